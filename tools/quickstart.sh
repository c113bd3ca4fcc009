#!/usr/bin/env bash
# The main job, end to end: a synthetic street-scene set is packed, looked into and trained on.
# usage: tools/quickstart.sh [FOLDER]   (default: a new folder under ${TMPDIR:-/tmp})
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }
run() { # prints the command as the user would type it, then runs it
  say "\$ ${*/bazel-bin\/*\//}"
  "$@"
}

tools/setup.sh
say "Building (the first time takes some minutes)"
bazel build -c opt //tools:shardmill //trainer:shardmill-train

work=${1:-$(mktemp -d "${TMPDIR:-/tmp}/shardmill-quickstart.XXXXXX")}
mkdir -p "$work"
shardmill=bazel-bin/tools/shardmill
train=bazel-bin/trainer/shardmill-train

run $shardmill sample -o "$work/scenes"
run $shardmill pack "$work/scenes" -o "$work/shards"
run $shardmill dump info "$work/shards"
run $shardmill dump sheet "$work/shards" -o "$work/sheet.png"
run $shardmill verify "$work/shards"
run $train "$work/shards" --epochs 10 --output "$work/run" | tee "$work/train.log"

# The synthetic set is easy: a trainer that stays below 0.80 is wrong.
best=$(sed -n 's/.*best mIoU[^0-9]*\([01]\.[0-9]*\).*/\1/p' "$work/train.log" | tail -n 1)
if ! awk -v best="${best:-0}" 'BEGIN { exit !(best >= 0.80) }'; then
  echo "quickstart: best mIoU is '${best}', expected at least 0.80" >&2
  exit 1
fi
say "Done. Best mIoU $best on the held-out split. Look at $work/sheet.png; all files: $work"
