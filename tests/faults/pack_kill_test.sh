#!/usr/bin/env bash
# SIGKILL at random moments of a pack, then the same command again: the bytes must equal those of
# an undisturbed pack, and nothing partial may ever lie under a final name.
# usage: pack_kill_test.sh SHARDMILL [KILLS]
set -uo pipefail

shardmill=$(realpath "$1")
kills=${2:-50}
cd "${TEST_TMPDIR:?run by bazel test}" || exit 1

options=(--shard-size 700KiB --block-size 256KiB --jobs 2 --quiet)
"$shardmill" sample -o scenes --count 60 --height 96 --width 128 >/dev/null || exit 1
start=$(date +%s%N)
"$shardmill" pack scenes -o whole "${options[@]}" >/dev/null || exit 1
undisturbed_us=$((($(date +%s%N) - start) / 1000))

RANDOM=1 # the moments come from a fixed seed, the scheduler does the rest
failures=0
killed=0
for ((i = 0; i < kills; ++i)); do
  rm -rf out
  "$shardmill" pack scenes -o out "${options[@]}" >/dev/null 2>&1 &
  packer=$!
  # 32768 * 0.9 of the undisturbed time at most
  sleep "$(printf '%d.%06d' 0 $((RANDOM * undisturbed_us * 9 / 327680)))"
  kill -KILL $packer 2>/dev/null && killed=$((killed + 1))
  wait $packer 2>/dev/null
  for shard in out/*.shard; do
    [ -e "$shard" ] || continue
    "$shardmill" verify "$shard" --quiet >/dev/null || { echo "FAILED: kill $i: $shard is not sound"; failures=$((failures + 1)); }
  done
  if ! "$shardmill" pack scenes -o out "${options[@]}" >/dev/null 2>message; then
    # a pack that was finished before the kill refuses to be packed again
    "$shardmill" verify out --quiet || { echo "FAILED: kill $i: $(cat message)"; failures=$((failures + 1)); }
  fi
  for file in whole/*.shard whole/manifest.json; do
    cmp "$file" "out/$(basename "$file")" || failures=$((failures + 1))
  done
  leftover=$(find out -name '*.tmp*')
  [ -z "$leftover" ] || { echo "FAILED: kill $i left $leftover"; failures=$((failures + 1)); }
done
echo "$kills packs, $killed killed while running, $failures failures"
[ $killed -gt 0 ] || { echo "FAILED: no pack was killed in time"; exit 1; }
exit $((failures > 0))
