#!/usr/bin/env bash
# SIGKILL at random moments of a training that writes a checkpoint every few milliseconds: every
# checkpoint that lies there can be read, the same run goes on from the last one, and in the end
# checkpoints (byte for byte), hash and log are those of an undisturbed run.
# usage: train_kill_test.sh SHARDMILL SHARDMILL_TRAIN [KILLS]
set -uo pipefail
shopt -s nullglob

shardmill=$(realpath "$1")
train=$(realpath "$2")
kills=${3:-50}
cd "${TEST_TMPDIR:?run by bazel test}" || exit 1

failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

"$shardmill" sample -o scenes --count 12 --height 32 --width 32 >/dev/null &&
  "$shardmill" pack scenes -o data --quiet >/dev/null || exit 1
options=(--width 2 --depth 2 --batch 4 --threads 1 --epochs 30 --eval-every 10 --ema 0.9
  --keep-epochs 2 --quiet --device cpu)
start=$(date +%s%N)
"$train" data --output out "${options[@]}" >whole.txt 2>&1 || exit 1
undisturbed_us=$((($(date +%s%N) - start) / 1000))
mv out whole # checkpoints name their folder

# What a run says of itself, without times and without the lines that starts leave.
story() { # FOLDER
  grep -v '"kind": "start"' "$1/log.jsonl" |
    sed -E 's/, "images_per_s".*//; s/"seconds": [^,]*, //; s/, "(wait|compute)_[^,}]*//g'
}
files_of() { find "$1" -mindepth 1 | sed -E "s,^$1/,,; s/^events\.out\.tfevents\..*/events/" | sort; }
last_checkpoint() { stat -c '%i %y' out/last.ckpt 2>/dev/null; }
hash_of() { sed -n 's/^weights hash //p' "$1"; }
[ -n "$(hash_of whole.txt)" ] || fail "the undisturbed run names no hash"

check_checkpoints() { # CASE
  local inode file
  while read -r inode file; do # a file with several names is read once
    "$train" export "$file" --output weights.safetensors >export.txt 2>&1 ||
      fail "$1: $file cannot be read: $(cat export.txt)"
    read_checkpoints=$((read_checkpoints + 1))
  done < <(stat -c '%i %n' out/*.ckpt 2>/dev/null | sort -u -k 1,1)
}

RANDOM=1 # the moments come from a fixed seed, the scheduler does the rest
killed=0
resumed=0
rounds=0
read_checkpoints=0
while ((killed < kills)); do
  rm -rf out
  while :; do
    how=(--overwrite)
    if [ -e out/last.ckpt ]; then
      how=(--resume)
      resumed=$((resumed + 1))
    fi
    "$train" data --output out "${options[@]}" "${how[@]}" >run.txt 2>&1 &
    trainer=$!
    if ((killed < kills)); then
      if ((killed % 2 == 0)); then # soon after a checkpoint more; else at any moment
        before=$(last_checkpoint)
        until [ "$(last_checkpoint)" != "$before" ] || ! kill -0 $trainer 2>/dev/null; do
          sleep 0.002
        done
        sleep "0.00$((RANDOM % 10))"
      else
        sleep "$(printf '%d.%06d' 0 $((RANDOM * undisturbed_us * 6 / 327680 % 1000000)))"
      fi
      kill -KILL $trainer 2>/dev/null
    fi
    wait $trainer 2>/dev/null
    status=$?
    [ $status -eq 137 ] || break
    killed=$((killed + 1))
    check_checkpoints "kill $killed"
  done
  rounds=$((rounds + 1))
  if grep -q 'the run is complete' run.txt; then
    rm -f out/.shardmill-lock # the kill came behind the last checkpoint
  else
    [ $status -eq 0 ] || fail "round $rounds: exit $status: $(cat run.txt)"
    [ "$(hash_of run.txt)" = "$(hash_of whole.txt)" ] || fail "round $rounds: another hash"
  fi
  for file in whole/*.ckpt; do
    cmp -s "$file" "out/${file#*/}" || fail "round $rounds: ${file#*/} differs"
  done
  cmp -s <(story out) <(story whole) || fail "round $rounds: the logs differ"
  # The name of TensorBoard's file has a time and a process in it.
  [ "$(files_of out)" = "$(files_of whole)" ] || fail "round $rounds: there lie $(ls -A out)"
  ((failures < 5)) || break
done

echo "$killed kills in $rounds runs, $resumed resumes, $read_checkpoints checkpoints read," \
  "$failures failures"
((resumed * 2 >= killed)) || fail "too few runs had a checkpoint to go on from"
exit $((failures > 0))
