#!/usr/bin/env bash
# SIGKILL at random moments of a pack, then the same command again, and again: what was finished is
# kept as it is, each run gets further, nothing partial ever lies under a final name, and at the
# end the bytes equal those of an undisturbed pack. With --overwrite the old set stays whole until
# the new one is.
# usage: pack_kill_test.sh SHARDMILL [KILLS]
set -uo pipefail
shopt -s nullglob

shardmill=$(realpath "$1")
kills=${2:-50}
cd "${TEST_TMPDIR:?run by bazel test}" || exit 1

failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

sizes=(--shard-size 40KiB --block-size 20KiB)
"$shardmill" sample -o scenes --count 120 --height 48 --width 64 >/dev/null || exit 1
start=$(date +%s%N)
"$shardmill" pack scenes -o whole "${sizes[@]}" --quiet >/dev/null || exit 1
undisturbed_us=$((($(date +%s%N) - start) / 1000))
"$shardmill" pack scenes -o old "${sizes[@]}" --crop 32x32 --quiet >/dev/null || exit 1
whole=(whole/*.shard)
[ ${#whole[@]} -ge 15 ] || fail "the set has only ${#whole[@]} shards"

same_set() { # CASE
  local file
  for file in whole/*.shard whole/manifest.json; do # the report may be cut off
    cmp -s "$file" "out/$(basename "$file")" || fail "$1: $(basename "$file") differs"
  done
  # A process that was killed at its very end, with the set complete, may leave its lock; that does
  # no harm.
  file=$(comm -13 <(ls -A whole) <(ls -A out) | grep -vx .shardmill-lock)
  [ -z "$file" ] || fail "$1: more lies in out: $file"
}

# Name, inode and time of change of the finished shards in FOLDER. Once the old set is gone, those
# that have been moved to its place count too.
finished() { # FOLDER
  local folders=("$1") each
  cmp -s old/manifest.json out/manifest.json || folders=(out out/.shardmill-incoming)
  for each in "${folders[@]}"; do stat -c '%n %i %y' "$each"/*.shard 2>/dev/null; done |
    sed 's,^.*/,,' | sort
}

RANDOM=1 # the moments come from a fixed seed, the scheduler does the rest
killed=0
further=0

# Runs the pack and kills it: in odd attempts at any moment, in even ones soon after a shard more
# is finished than before. Checks what it left.
attempt() { # FOLDER OPTIONS...
  local folder=$1 before had packer now line after file
  shift
  before=$(finished "$folder")
  had=("$folder"/*.shard)
  "$shardmill" pack scenes -o out "${sizes[@]}" --quiet --jobs $((1 + killed % 2)) "$@" >/dev/null 2>&1 &
  packer=$!
  if ((killed % 2 == 0)); then
    until now=("$folder"/*.shard) && ((${#now[@]} > ${#had[@]})) || ! kill -0 $packer 2>/dev/null; do
      sleep 0.002
    done
    sleep "0.00$((RANDOM % 10))"
  else
    sleep "$(printf '%d.%06d' 0 $((RANDOM * undisturbed_us * 9 / 327680)))"
  fi
  kill -KILL $packer 2>/dev/null && killed=$((killed + 1))
  wait $packer 2>/dev/null
  [ -e out/.pack-state ] || [ -e out/.shardmill-incoming/.pack-state ] || return 0 # it had ended
  after=$(finished "$folder")
  while read -r line; do
    [ -z "$line" ] || grep -qxF -- "$line" <<<"$after" || fail "kill $killed: not kept: $line"
  done <<<"$before"
  now=("$folder"/*.shard)
  ((${#now[@]} <= ${#had[@]})) || further=$((further + 1))
  while read -r line; do # what is new must be sound
    for file in "$folder/${line%% *}" "out/${line%% *}"; do
      [ ! -e "$file" ] || "$shardmill" verify "$file" --quiet >/dev/null ||
        fail "kill $killed: $file is not sound"
    done
  done < <(comm -13 <(echo "$before") <(echo "$after") | grep .)
}

finish() { # FOLDER CASE OPTIONS...
  local there=("$1"/*.shard) name=$2 kept
  shift 2
  "$shardmill" pack scenes -o out "${sizes[@]}" --quiet --json "$@" >summary || fail "$name: exit $?"
  kept=$(sed -n 's/.*"kept_shards": \([0-9]*\).*/\1/p' summary)
  [ "$kept" -eq ${#there[@]} ] || fail "$name: ${#there[@]} shards were finished, $kept are kept"
}

rounds=0
while ((killed < kills * 7 / 10)); do
  rm -rf out
  mkdir out
  while ((killed < kills)); do
    attempt out
    [ ! -e out/manifest.json ] && now=(out/*.shard) && ((${#now[@]} < 16)) || break
  done
  finish out "round $rounds"
  same_set "round $rounds"
  rounds=$((rounds + 1))
done

while ((killed < kills)); do
  rm -rf out
  cp -r old out
  while ((killed < kills)); do
    attempt out/.shardmill-incoming --overwrite
    if cmp -s old/manifest.json out/manifest.json; then
      "$shardmill" verify out --quiet >/dev/null || fail "kill $killed: the old set is not whole"
    fi
    now=(out/.shardmill-incoming/*.shard)
    ((${#now[@]} < 16)) && cmp -s old/manifest.json out/manifest.json || break
  done
  if cmp -s old/manifest.json out/manifest.json || [ ! -e out/manifest.json ] || [ -e out/.pack-state ]; then
    "$shardmill" pack scenes -o out "${sizes[@]}" --quiet --overwrite >/dev/null || fail "overwrite: exit $?"
  fi
  same_set "overwrite, round $rounds"
  rounds=$((rounds + 1))
done

echo "$killed kills in $rounds packs, $further runs got further, $failures failures"
((further * 2 >= killed)) || fail "too few runs got further"
exit $((failures > 0))
