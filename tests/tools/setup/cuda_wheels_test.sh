#!/usr/bin/env bash
# cuda_wheels.sh with a python3 that only pretends to install: what is found, what is made of the
# wheels' folders, and that a second start installs nothing.
# usage: cuda_wheels_test.sh CUDA_WHEELS.SH
set -uo pipefail

script=$(realpath "$1")
work=${TEST_TMPDIR:?run by bazel test}/wheels
rm -rf "$work"
mkdir -p "$work/bin"
failures=0
fail() {
  echo "FAILED: $1" >&2
  failures=1
}

make_home() { # FOLDER LIBRARY_FOLDER: of a toolkit
  mkdir -p "$1/bin" "$1/include" "$1/$2"
  touch "$1/bin/nvcc" "$1/include/"{cuda_runtime,cudnn,nccl}.h "$1/$2/lib"{cudart,cudnn,nccl}.so.1
}

# `python3 -m venv FOLDER` makes a pip that lays out files as the wheels do.
cat >"$work/bin/python3" <<'PYTHON'
#!/bin/sh
mkdir -p "$3/bin"
cat >"$3/bin/pip" <<'PIP'
#!/bin/sh
echo installed >>"$PIP_LOG"
[ -z "${PIP_FAILS:-}" ] || exit 1
while [ "$1" != --target ]; do
  [ "$1" != --require-hashes ] || checked=1
  shift
done
[ -n "${checked:-}" ] || exit 1
n=$2/nvidia
mkdir -p "$n/cu13/bin" "$n/cu13/include" "$n/cu13/lib" "$n/cudnn/include" "$n/cudnn/lib" \
  "$n/nccl/include/nccl_device" "$n/nccl/lib"
touch "$n/cu13/bin/nvcc" "$n/cu13/include/cuda_runtime.h" "$n/cu13/lib/libcudart.so.13" \
  "$n/cudnn/lib/__init__.py" "$n/cudnn/include/cudnn.h" "$n/cudnn/lib/libcudnn.so.9" \
  "$n/nccl/include/nccl.h" "$n/nccl/include/nccl_device/core.h" "$n/nccl/lib/libnccl.so.2"
PIP
chmod +x "$3/bin/pip"
PYTHON
chmod +x "$work/bin/python3"
export PATH="$work/bin:$PATH" PIP_LOG=$work/log SHARDMILL_CUDA=$work/made

make_home "$work/toolkit" targets/x86_64-linux/lib
home=$(CUDA_HOME=$work/toolkit "$script" 2>/dev/null) || fail "a toolkit is not taken"
[ "$home" = "$work/toolkit" ] || fail "printed '$home' for a toolkit"
[ ! -e "$work/log" ] || fail "something was installed beside a toolkit"

if [ -e /usr/local/cuda/include/nccl.h ]; then
  # The rest is for machines without a toolkit: such a one is looked for there first.
  script_here=$work/cuda_wheels.sh
  sed 's#/usr/local/cuda #/nonexistent/cuda #' "$script" >"$script_here"
  chmod +x "$script_here"
  cp "$(dirname "$script")/cuda_wheels.txt" "$work/" 2>/dev/null
  script=$script_here
fi
unset CUDA_HOME

# Too few files are no toolkit.
rm "$work/toolkit/include/nccl.h"
PIP_FAILS=1 CUDA_HOME=$work/toolkit "$script" >"$work/out" 2>/dev/null && fail "a failed pip passes"
[ ! -s "$work/out" ] || fail "a folder was printed though nothing is there"

home=$("$script" 2>/dev/null) || fail "the wheels are not installed"
[ "$home" = "$work/made/nvidia/cu13" ] || fail "printed '$home' for the wheels"
for file in bin/nvcc include/cuda_runtime.h include/cudnn.h include/nccl.h \
  include/nccl_device/core.h lib/libcudart.so.13 lib/libcudnn.so.9 lib/libnccl.so.2; do
  [ -e "$home/$file" ] || fail "$file is missing"
done
installs=$(wc -l <"$work/log")
[ "$("$script" 2>/dev/null)" = "$home" ] || fail "the second start does not find the wheels"
[ "$(wc -l <"$work/log")" = "$installs" ] || fail "the second start installs again"
exit $failures
