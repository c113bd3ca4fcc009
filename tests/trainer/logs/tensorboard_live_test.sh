#!/usr/bin/env bash
# The real TensorBoard reads what a run logs that is stopped inside an epoch and resumed, with the
# interpreter that SHARDMILL_TENSORBOARD names (default: Debian's). Without TensorBoard the test is
# skipped and says so.
# usage: tensorboard_live_test.sh CHECK.py SHARDMILL SHARDMILL_TRAIN
set -uo pipefail
source tests/trainer/skip.sh

python=${SHARDMILL_TENSORBOARD:-/usr/bin/python3}
"$python" -c 'import tensorboard' 2>/dev/null ||
  skip "$python has no TensorBoard (python3 -m venv tb, tb/bin/pip install tensorboard, then SHARDMILL_TENSORBOARD=\$PWD/tb/bin/python)"
check=$(realpath "$1")
shardmill=$(realpath "$2")
train=$(realpath "$3")
cd "${TEST_TMPDIR:?run by bazel test}" || exit 1

"$shardmill" sample -o scenes --count 24 --height 32 --width 48 >/dev/null &&
  "$shardmill" pack scenes -o data --quiet >/dev/null &&
  "$train" data --output run --width 4 --depth 2 --batch 4 --threads 1 --epochs 3 --device cpu \
    --limit-steps 7 --quiet &&
  "$train" data --output run --resume --quiet || exit 1
said=$("$python" "$check" run 2>&1)
status=$?
echo "$said"
[ $status -eq 0 ] || exit 1
# What the check compares is there.
grep -qE '^15 steps, 3 evaluations, 17 scalars, pictures of [1-9] records: the same$' <<<"$said" || {
  echo "FAILED: TensorBoard has read something else than 15 steps and 3 evaluations"
  exit 1
}
