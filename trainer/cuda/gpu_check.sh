#!/usr/bin/env bash
# Everything that needs a GPU, in one run of under 6 minutes: tests, training, a table, a JSON file.
#
# usage: gpu_check.sh --collect FOLDER [DATASET]   where it was built: puts the programs, the
#                                                  libraries that they need and a packed set there
#                                                  (DATASET, else a synthetic one): under 60 MiB
#        FOLDER/gpu_check.sh [RESULTS.json]        where the GPU is: builds nothing; needs bash,
#                                                  the NVIDIA driver, and CUDA, cuDNN and NCCL in
#                                                  LD_LIBRARY_PATH, CUDA_HOME, /usr/local/cuda or
#                                                  the wheels of python3's PyTorch
# Ends with 1 when a check failed or a goal was missed, with 2 on wrong words or an incomplete FOLDER,
# with 5 when there is no GPU to check. RESULTS holds what is known after each check, so a run that is
# cut short leaves what it found; that of an earlier run goes.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/gpu_check_report.sh"

targets=(
  //trainer:shardmill-train //trainer:libshardmill_cuda.so
  //tests/trainer/cuda:runtime_test //tests/trainer/cuda:device_kernels_test
  //tests/trainer/cuda/device:cuda_ops_test //tests/trainer/cuda:kernel_bandwidth
)
most_mib=60

# ---- where it was built

path_of() { # TARGET: where Bazel put it
  local name=${1#//}
  echo "bazel-bin/${name/://}"
}

copy_programs() { # FOLDER
  local folder=$1 target library
  for target in "${targets[@]}"; do
    install -m 755 "$(path_of "$target")" "$folder/" || return 1
    strip --strip-unneeded "$folder/${target##*:}" || return 1
  done
  install -m 755 trainer/cuda/gpu_check.sh trainer/cuda/gpu_check_report.sh "$folder/" &&
    install -m 644 tests/bench/peers/train_torch.py tests/trainer/torch/networks.py "$folder/" ||
    return 1
  # What is not part of the programs, but for the C library's and NVIDIA's own.
  for library in $(ldd "$folder/shardmill-train" "$folder"/*_test "$folder/kernel_bandwidth" \
    "$folder"/*.so | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux.*|libcu.*|libnccl.*|libnv.*)\.so'); do
    install -m 644 "$library" "$folder/lib/" || return 1
  done
}

# Street scenes of the size of CamVid's, as large as there is room for.
make_data() { # FOLDER
  local scenes status
  scenes=$(mktemp -d) || return 1
  bazel-bin/tools/shardmill sample -o "$scenes/png" --count 48 --height 360 --width 480 &&
    bazel-bin/tools/shardmill pack "$scenes/png" -o "$1" --crop 352x480 --crop-mode center --quiet
  status=$?
  rm -rf "$scenes"
  return $status
}

collect() { # FOLDER [DATASET]
  local folder=$1 dataset=${2:-} size
  cd "$here/../.." || return 1
  if [ -e "$folder" ] && [ ! -x "$folder/gpu_check.sh" ] && [ -n "$(ls -A "$folder")" ]; then
    echo "gpu_check: $folder is not empty and holds no earlier collection" >&2
    return 2
  fi
  bazel build -c opt --define=portable=1 "${targets[@]}" || return 1
  rm -rf "$folder" && mkdir -p "$folder/lib" && copy_programs "$folder" || return 1
  # The usual programs take their places in bazel-bin again.
  bazel build -c opt "${targets[@]}" //tools:shardmill || return 1
  if [ -n "$dataset" ]; then
    cp -rL "$dataset" "$folder/data" || return 1
  else
    make_data "$folder/data" || return 1
  fi
  size=$(du -s --apparent-size -B 1024 "$folder" | cut -f1)
  echo "$folder: $(du -s --apparent-size -B 1024 "$folder/data" | cut -f1) KiB of data, $size KiB in all"
  [ "$size" -le $((most_mib * 1024)) ] || {
    echo "gpu_check: more than $most_mib MiB; collect a smaller data set" >&2
    return 1
  }
}

# ---- where the GPU is

time_left() { # LIMIT_S: no check may take the whole past its end
  local left=$((most_seconds - SECONDS))
  [ "$1" -lt $left ] && left=$1
  [ $left -gt 1 ] || left=1
  echo $left
}

reason() { # what GoogleTest says of the first failure or skip in `output`, else its last line
  local words
  words=$(awk '/: (Failure|Skipped)$/ {getline; first = $0; getline; print first, $0; exit}' \
    <<<"$output")
  printf '%s' "${words:-$(tail -n 1 <<<"$output")}" | cut -c 1-200
}

check() { # NAME LIMIT_S COMMAND...: passes when it ends with 0
  local name=$1 limit=$2 start=$SECONDS status words
  shift 2
  limit=$(time_left "$limit")
  # What hangs in the driver does not end when it is asked to.
  output=$(timeout --kill-after=5 "$limit" "$@" 2>&1)
  status=$?
  [ $status -eq 0 ] && return 0
  printf '%s\n' "$output" | tail -n 25 | cut -c 1-300 >&2
  words="exit $status"
  case $status in
    124 | 137) words="not done within $limit s" ;;
  esac
  row "$name" failed $((SECONDS - start)) "$words: $(reason)"
  return 1
}

tests() { # NAME LIMIT_S COMMAND...: of GoogleTest; at least one must run, none may be skipped
  local start=$SECONDS ran skipped
  check "$@" || return
  ran=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' <<<"$output")
  skipped=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' <<<"$output")
  if [ "${ran:-0}" -gt 0 ] && [ "${skipped:-0}" -eq 0 ]; then
    row "$1" passed $((SECONDS - start)) "$ran tests" "tests=$ran"
  else
    row "$1" failed $((SECONDS - start)) \
      "${ran:-0} tests ran, ${skipped:-0} were skipped: $(reason)"
  fi
}

bandwidths() { # how much memory each kernel moves, beside a copy
  local start=$SECONDS least
  check "kernel bandwidths" 60 "$here/kernel_bandwidth" || return
  printf '%s\n' "$output"
  bandwidth_rows=$output
  least=$(awk 'NR > 1 {print $NF}' <<<"$output" | sort -g | head -n 1)
  row "kernel bandwidths" passed $((SECONDS - start)) \
    "$(wc -l <<<"$output") kernels; the slowest moves $least of what a copy does" "least_share=$least"
}

# The speed of steps that are like the next one: behind the first, which load code and capture
# graphs, and without the few at the ends of epochs, of which so small a set has many.
steady() { # LOG: images/s of the median step, and the share of the time in which steps wait
  sed -n 's/.*"kind": "step",.*"images": \([0-9]*\),.*"wait_ms": \([^,}]*\),.*"total_ms": \([^,}]*\).*/\1 \2 \3/p' \
    "$1" 2>/dev/null | tail -n +$((warm_steps + 1)) | sort -g -k 3 |
    awk '{images = $1; wait += $2; all += $3; ms[NR] = $3}
      END {if (all > 0) printf "%.1f %.4f", 1000 * images / ms[int((NR + 1) / 2)], wait / all}'
}

train() { # NAME LIMIT_S OPTION...: on the data set; leaves its JSON in `output`, `speed` as steady
  local name=$1 limit=$2 folder status
  shift 2
  folder=$(mktemp -d)
  check "$name" "$limit" "$here/shardmill-train" "$here/data" --device cuda --quiet --json \
    --output "$folder/run" --plan-cache "$work/plans" "$@"
  status=$?
  speed=$(steady "$folder/run/log.jsonl")
  rm -rf "$folder"
  return $status
}

# The same few images again and again must be learned by heart.
overfit() {
  local start=$SECONDS score
  train "overfitting" 60 --train-split val --eval-every 100 --epochs 300 --batch 8 --width 16 \
    --lr 0.003 || return
  score=$(number "$output" best_score)
  if is_number "$score" &&
    awk -v score="$score" -v least="$least_overfit" 'BEGIN {exit !(score >= least)}'; then
    row "overfitting" passed $((SECONDS - start)) "mIoU $score on 8 images" "miou=$score"
  else
    row "overfitting" failed $((SECONDS - start)) "mIoU ${score:-unknown}, must reach $least_overfit" \
      "miou=$score"
  fi
}

unet() { # PRECISION STEPS: U-Net, without evaluations
  local name="U-Net, $1" start=$SECONDS rate waiting
  train "$name" 60 --precision "$1" --width 16 --batch 8 --eval-every 0 \
    --epochs 100000 --limit-steps "$2" || return
  read -r rate waiting <<<"$speed"
  if ! is_number "$rate" || ! is_number "$waiting"; then
    row "$name" failed $((SECONDS - start)) "it did not say its speed"
    return
  fi
  unet_rate=$rate
  if awk -v waiting="$waiting" -v most="$most_waiting" 'BEGIN {exit !(waiting < most)}'; then
    row "$name" passed $((SECONDS - start)) "$rate images/s in the median step, $waiting of the time waiting" \
      "images_per_s=$rate" "waiting_share=$waiting"
  else
    row "$name" failed $((SECONDS - start)) \
      "$rate images/s in the median step, $waiting of the time waiting, goal: below $most_waiting" \
      "images_per_s=$rate" "waiting_share=$waiting"
  fi
}

# The same network has been trained before, with the same file.
second_start() { # OUTPUT of a training
  local name="plans of a second start" built
  built=$(sed -n 's/.*plans of convolutions: \([0-9]*\) built, .*/\1/p' <<<"$1" | head -n 1)
  if [ "$built" = 0 ]; then
    row "$name" passed 0 "all from the file" "built=0"
  else
    row "$name" failed 0 "${built:-unknown}, must be 0, were built" "built=$built"
  fi
}

# bf16, channels last, compiled, its batch in the memory of the GPU already.
beside_pytorch() { # OURS: images/s
  local name="beside PyTorch" start=$SECONDS theirs ratio
  if ! timeout --kill-after=5 "$(time_left 60)" \
    python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    row "$name" skipped $((SECONDS - start)) "python3 has no PyTorch that sees the GPU"
    return
  fi
  if [ -z "$1" ]; then
    row "$name" skipped 0 "there is no speed in bf16 to compare"
    return
  fi
  check "$name" 150 python3 "$here/train_torch.py" --device cuda --bf16 --model unet --width 16 --batch 8 \
    --size 352x480 --steps 50 --ways compiled || return
  theirs=$(sed -n 's/.*"images_per_s": \([0-9.]*\).*/\1/p' <<<"$output" | tail -n 1)
  ratio=$(awk -v ours="$1" -v theirs="${theirs:-0}" \
    'BEGIN {printf "%.2f", (theirs > 0 ? ours / theirs : 0)}')
  if awk -v ratio="$ratio" -v least="$least_ratio" 'BEGIN {exit !(ratio >= least)}'; then
    row "$name" passed $((SECONDS - start)) "$ratio x its $theirs images/s" \
      "ratio=$ratio" "torch_images_per_s=$theirs"
  else
    row "$name" failed $((SECONDS - start)) \
      "$ratio x its ${theirs:-0} images/s, goal: $least_ratio x" \
      "ratio=$ratio" "torch_images_per_s=${theirs:-0}"
  fi
}

sanitize() { # one run of all kernels under NVIDIA's memory checker
  local name="compute-sanitizer" start=$SECONDS tool
  tool=$(PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin" command -v compute-sanitizer) || {
    row "$name" skipped 0 "compute-sanitizer is not installed"
    return
  }
  tests "$name" 60 "$tool" --error-exitcode 9 "$here/device_kernels_test" \
    --gtest_filter=DeviceKernels.Steps*
}

find_nvidia() { # CUDA, cuDNN and NCCL, where LD_LIBRARY_PATH does not name them
  local folder
  missing() { ldd "$here/libshardmill_cuda.so" 2>&1 | awk '/not found/ {printf "%s ", $1}'; }
  for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" "${CUDA_HOME:-/usr/local/cuda}/lib" \
    $(timeout --kill-after=5 20 python3 -c 'import glob, sys
for path in sys.path: print(*sorted(glob.glob(path + "/nvidia/*/lib")))' 2>/dev/null); do
    # All of them, behind those that were named: cuDNN opens others when it needs them.
    [ ! -d "$folder" ] || export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder"
  done
  [ -n "$(missing)" ] || return 0
  echo "gpu_check: cannot find $(missing)- name the folders of CUDA, cuDNN and NCCL in" \
    "LD_LIBRARY_PATH" >&2
  exit 5
}

usage() { sed -n '/^# usage/,/^[^#]/ s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

wrong_usage() {
  usage >&2
  exit 2
}

# A GPU does not need nvidia-smi, which containers often lack.
name_device() {
  timeout --kill-after=5 20 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null ||
    { [ -e /dev/nvidiactl ] && ! command -v nvidia-smi >/dev/null && echo "a GPU, there is no nvidia-smi"; }
}

check_folder() {
  local name absent=
  for name in "${targets[@]##*:}" data; do
    [ -e "$here/$name" ] || absent+=" $name"
  done
  [ -n "$absent" ] || return 0
  echo "gpu_check: $here lacks$absent: collect it anew, with gpu_check.sh --collect FOLDER" >&2
  exit 2
}

case "${1:-}" in
--help | -h)
  usage
  exit
  ;;
--collect) [ $# -eq 2 ] || [ $# -eq 3 ] || wrong_usage ;;
-*) wrong_usage ;;
*) [ $# -le 1 ] || wrong_usage ;;
esac
if [ "${1:-}" = --collect ]; then
  collect "$(realpath -m "$2")" "${3:+$(realpath "$3")}"
  exit
fi

least_overfit=0.9
most_waiting=0.01
warm_steps=20
least_ratio=1.2
most_seconds=345
unet_rate=
bandwidth_rows=
export REQUIRE_GPU=1
check_folder
results=${1:-gpu_check.json}
rm -f -- "$results"
if ! device=$(name_device); then
  echo "gpu_check: no GPU: nvidia-smi, of the NVIDIA driver, is missing or finds none" >&2
  exit 5
fi
device=${device%%$'\n'*}
find_nvidia
write_results || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'echo "gpu_check: cut short; $results has what is known" >&2; exit 1' INT TERM HUP
echo "$device"
tests "code for this device" 60 "$here/runtime_test"
tests "kernels beside the host" 60 "$here/device_kernels_test" \
  --gtest_filter=-DeviceKernels.WorkWithoutADevice*
# One by one: what ends the process of one test leaves the others.
on_gpu() { # NAME TEST
  tests "$1" 60 "$here/cuda_ops_test" "--gtest_filter=OnGpu.$2"
}
on_gpu "convolutions" ConvolutionsAgreeWithTheReference
on_gpu "fused = unfused" FusedConvolutionsAgreeWithUnfused
tests "plans for those that fail" 60 "$here/cuda_ops_test" "--gtest_filter=PlanFailover.*"
on_gpu "training beside the host" TrainingGoesAsOnTheHost
on_gpu "eager = captured" WholeStepsTrainAsOnTheHostAndCapturedAsEager
on_gpu "passes over one batch" PassesTrainAsOnTheHostAndCapturedAsEager
on_gpu "input path" BatchesArriveThroughTheInputPath
on_gpu "NCCL, 1 rank" OneRankSumsThroughNccl
on_gpu "NCCL in a captured step" CapturedStepsSumThroughNccl
overfit
output=
unet f32 60
second_start "$output"
unet tf32 120
unet_rate=
unet bf16 200
bandwidths
beside_pytorch "$unet_rate"
sanitize
report
