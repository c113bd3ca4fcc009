#!/usr/bin/env bash
# Ten epochs of a small U-Net on CamVid, where SHARDMILL_CAMVID names its folder (train, trainannot,
# val, valannot, as SegNet's authors published it): it must get somewhere, and not wait for data.
# usage: camvid_test.sh SHARDMILL SHARDMILL_TRAIN
set -uo pipefail
source tests/trainer/skip.sh

[ -n "${SHARDMILL_CAMVID:-}" ] || skip "SHARDMILL_CAMVID does not name the folder of CamVid"
lowest_miou=0.35  # 0.42 when this was written
most_waiting=2.0  # percent
shardmill=$(realpath "$1")
train=$(realpath "$2")
cd "${TEST_TMPDIR:?run by bazel test}" || exit 1

"$shardmill" pack "$SHARDMILL_CAMVID" -o data --resize 180x240 --quiet || exit 1
"$train" data --width 8 --epochs 10 --batch 8 --lr 0.01 --eval-every 5 --output run --quiet \
  --device cpu >result.txt || exit 1
cat result.txt
awk -v lowest="$lowest_miou" -v most="$most_waiting" '
  /^done:/ { for (i = 1; i < NF; ++i) if ($(i + 1) == "%") waiting = $i }
  /^best mIoU/ { miou = $3 }
  END { exit !(miou >= lowest && waiting != "" && waiting <= most) }' result.txt || {
  echo "FAILED: mIoU must reach $lowest_miou, waiting for data stay below $most_waiting %"
  exit 1
}
