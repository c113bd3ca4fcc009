#!/usr/bin/env bash
# Everything that needs a GPU, in one run of some minutes: tests, training, a table, a JSON file.
#
# usage: gpu_check.sh --collect FOLDER [DATASET]   where it was built: puts the programs, the
#                                                  libraries that they need and a packed set there
#        FOLDER/gpu_check.sh [RESULTS.json]        where the GPU is: builds nothing; needs bash,
#                                                  the NVIDIA driver, and CUDA, cuDNN and NCCL in
#                                                  LD_LIBRARY_PATH
# Ends with 1 when a check failed, 5 when there is no GPU.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
targets=(
  //trainer:shardmill-train //trainer:libshardmill_cuda.so
  //tests/trainer/cuda:runtime_test //tests/trainer/cuda:device_kernels_test
  //tests/trainer/cuda/device:cuda_ops_test //tests/trainer/cuda:kernel_bandwidth
)

path_of() { # TARGET: where Bazel put it
  local name=${1#//}
  echo "bazel-bin/${name/://}"
}

collect() { # FOLDER [DATASET]
  local folder=$1 dataset=${2:-} target library
  cd "$here/../.." || exit 1
  bazel build -c opt "${targets[@]}" || exit 1
  mkdir -p "$folder/lib" || exit 1
  cp -f trainer/cuda/gpu_check.sh "$folder/"
  for target in "${targets[@]}"; do
    cp -f "$(path_of "$target")" "$folder/" && chmod u+w "$folder/${target##*:}"
  done
  strip "$folder/shardmill-train" "$folder/kernel_bandwidth" "$folder"/*_test "$folder"/*.so
  # What a bare machine lacks: everything but the C library and NVIDIA's.
  for library in $(ldd "$folder/shardmill-train" "$folder"/*_test "$folder"/*.so |
    awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux.*|libcu.*|libnccl.*)\.so'); do
    cp -Lf "$library" "$folder/lib/"
  done
  [ -z "$dataset" ] || cp -rL "$dataset" "$folder/data"
  echo "$folder: $(du -sm "$folder" | cut -f1) MiB"
}

rows=()
failed=0
row() { # NAME RESULT SECONDS NOTE
  rows+=("$1"$'\t'"$2"$'\t'"$3"$'\t'"$4")
  printf '%-28s %-8s %6s s  %s\n' "$1" "$2" "$3" "$4"
  [ "$2" != failed ] || failed=1
}

check() { # NAME LIMIT_S COMMAND...: its last line is the note when it fails
  local name=$1 limit=$2 start=$SECONDS output status
  shift 2
  output=$(timeout "$limit" "$@" 2>&1)
  status=$?
  if [ $status -eq 0 ]; then
    row "$name" passed $((SECONDS - start)) ""
  else
    printf '%s\n' "$output" | tail -n 40 >&2
    row "$name" failed $((SECONDS - start)) "exit $status"
  fi
}

field() { # JSON KEY: a number of one line
  sed -n "s/^ *\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" <<<"$1" | head -n 1
}

train() { # NAME OPTION...: a run on the data set, with its speed as the note
  local name=$1 start=$SECONDS output status output_folder
  shift
  output_folder=$(mktemp -d)
  output=$(timeout 100 "$here/shardmill-train" "$here/data" --device cuda --output "$output_folder" \
    --quiet --json --eval-every 0 --epochs 100000 "$@" 2>"$output_folder/errors")
  status=$?
  if [ $status -eq 0 ]; then
    row "$name" passed $((SECONDS - start)) "$(field "$output" images_per_s) images/s, \
$(field "$output" waiting_share) of the time waiting"
  else
    tail -n 5 "$output_folder/errors" >&2
    row "$name" failed $((SECONDS - start)) "exit $status"
  fi
  rm -rf "$output_folder"
}

write_json() { # FILE
  local separator="" name result seconds note
  {
    printf '{"device": "%s", "checks": [' "$device"
    for entry in "${rows[@]}"; do
      IFS=$'\t' read -r name result seconds note <<<"$entry"
      printf '%s\n  {"name": "%s", "result": "%s", "seconds": %s, "note": "%s"}' "$separator" \
        "$name" "$result" "$seconds" "$note"
      separator=,
    done
    printf '\n]}\n'
  } >"$1"
}

if [ "${1:-}" = --collect ]; then
  [ $# -ge 2 ] || { echo "usage: gpu_check.sh --collect FOLDER [DATASET]" >&2; exit 2; }
  collect "$(realpath -m "$2")" "${3:+$(realpath "$3")}"
  exit
fi

export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export REQUIRE_GPU=1
if ! device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null); then
  echo "gpu_check: no GPU: nvidia-smi, of the NVIDIA driver, is missing or finds none" >&2
  exit 5
fi
device=${device%%$'\n'*}
echo "$device"
check "code for this device" 60 "$here/runtime_test"
check "kernels beside the host" 90 "$here/device_kernels_test"
if timeout 60 "$here/kernel_bandwidth"; then
  row "kernel bandwidths" passed 0 "above"
else
  row "kernel bandwidths" failed 0 ""
fi
check "op table and NCCL" 90 "$here/cuda_ops_test"
if [ -d "$here/data" ]; then
  train "U-Net, f32" --precision f32 --width 16 --batch 8 --limit-steps 100
  train "U-Net, tf32" --precision tf32 --width 16 --batch 8 --limit-steps 200
  train "ENet, tf32" --model enet --precision tf32 --batch 8 --limit-steps 100
else
  row "training" skipped 0 "no data set was collected"
fi
write_json "${1:-gpu_check.json}"
exit $failed
