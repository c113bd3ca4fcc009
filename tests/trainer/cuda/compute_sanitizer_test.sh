#!/usr/bin/env bash
# All kernels under NVIDIA's checkers of memory and of races, where there is a GPU.
# usage: compute_sanitizer_test.sh DEVICE_KERNELS_TEST
set -uo pipefail
source tests/trainer/skip.sh

lacks() { # REASON: where a GPU is required, that is a failure
  [ "${REQUIRE_GPU:-}" != 1 ] || { echo "FAILED: $1" >&2; exit 1; }
  skip "$1"
}

nvidia-smi >/dev/null 2>&1 || lacks "no GPU: nvidia-smi is missing or finds none"
tool=$(PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin" command -v compute-sanitizer) ||
  lacks "compute-sanitizer is not installed"
for checker in memcheck racecheck; do
  "$tool" --tool "$checker" --error-exitcode 9 "$1" --gtest_filter=-*WithoutADevice* || {
    echo "FAILED: $checker has findings" >&2
    exit 1
  }
done
