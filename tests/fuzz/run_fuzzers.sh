#!/usr/bin/env bash
# Builds every fuzzer with clang and runs each, one on each core, for SECONDS (default 20) on
# the kept corpus.
# usage: [SEED=N] tests/fuzz/run_fuzzers.sh [SECONDS [FUZZER...]]
# A seed of your own (0: another one each time) looks where the usual one did not.
# Inputs that add coverage stay in ${TMPDIR:-/tmp}/shardmill-fuzz/NAME; crashes are kept there too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-20}
shift $(($# > 0 ? 1 : 0))
fuzzers=("$@")
if [ ${#fuzzers[@]} -eq 0 ]; then
  mapfile -t fuzzers < <(sed -n 's/^ *name = "\(.*_fuzz\)",$/\1/p' tests/fuzz/BUILD)
fi
[ ${#fuzzers[@]} -gt 0 ] || { echo "no fuzzers found in tests/fuzz/BUILD" >&2; exit 1; }

# The linker warns of every symbol of clang's sanitizer runtime; that is no news.
bazel build --config=fuzz "${fuzzers[@]/#///tests/fuzz:}" 2>&1 |
  grep -v 'Cannot export local symbol' >&2

fuzz() { # NAME
  local name=$1 work=${TMPDIR:-/tmp}/shardmill-fuzz/$1
  mkdir -p "$work"
  if bazel-bin/tests/fuzz/"$name" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -malloc_limit_mb=1024 -print_final_stats=1 -seed="${SEED:-1}" -artifact_prefix="$work/" "$work" \
    "tests/fuzz/corpus/$name" >"$work.log" 2>&1; then
    sed -n "s/^stat::number_of_executed_units: */=== $name: ${seconds} s, executions: /p" "$work.log"
  else
    echo "=== $name: FAILED; the end of $work.log:"
    tail -n 30 "$work.log"
    return 1
  fi
}

status=0
running=0
for name in "${fuzzers[@]}"; do # one on each core
  if ((running == $(nproc))); then
    wait -n || status=1
    running=$((running - 1))
  fi
  fuzz "$name" &
  running=$((running + 1))
done
while ((running > 0)); do
  wait -n || status=1
  running=$((running - 1))
done
exit $status
