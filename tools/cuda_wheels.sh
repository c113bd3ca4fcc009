#!/usr/bin/env bash
# Finds what a build for GPUs needs (nvcc, the CUDA runtime, cuDNN, NCCL) or installs it, as the
# calling user, from NVIDIA's wheels, of pinned versions, into a folder of its own. Prints the
# folder for CUDA_HOME on standard output, and nothing else there. Idempotent: what is whole stays.
# Looked at: CUDA_HOME, /usr/local/cuda, then the folder that this script makes:
# SHARDMILL_CUDA (default: shardmill/cuda in XDG_CACHE_HOME or ~/.cache; about 2 GB).
# Needs python3 with venv (tools/setup.sh --cuda installs it).
set -euo pipefail

list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/cuda_wheels.txt
folder=${SHARDMILL_CUDA:-${XDG_CACHE_HOME:-$HOME/.cache}/shardmill/cuda}

# The same files as tools/third_party/cuda.bzl looks for.
is_whole() { # CUDA_HOME
  local file name
  for file in bin/nvcc include/cuda_runtime.h include/cudnn.h include/nccl.h; do
    [ -e "$1/$file" ] || return 1
  done
  for name in lib64 lib targets/x86_64-linux/lib; do
    if compgen -G "$1/$name/libcudart.so*" >/dev/null &&
      compgen -G "$1/$name/libcudnn.so*" >/dev/null &&
      compgen -G "$1/$name/libnccl.so*" >/dev/null; then
      return 0
    fi
  done
  return 1
}

found() { # CUDA_HOME
  echo "setup: CUDA, cuDNN and NCCL are in $1" >&2
  echo "$1"
  exit 0
}

for home in ${CUDA_HOME:+"$CUDA_HOME"} /usr/local/cuda "$folder/nvidia/cu13"; do
  if is_whole "$home"; then found "$home"; fi
done

if [ "$(uname -m)" != x86_64 ]; then
  echo "setup: the pinned wheels are for x86-64; install CUDA 13, cuDNN 9 and NCCL and name their" \
    "folder in CUDA_HOME" >&2
  exit 3
fi
echo "setup: installing NVIDIA's wheels into $folder" >&2
mkdir -p "$folder"
# A second set-up at once would install into the same folder.
exec 9>"$folder/.lock"
flock 9
if is_whole "$folder/nvidia/cu13"; then found "$folder/nvidia/cu13"; fi
rm -rf "$folder/nvidia" "$folder/unfinished"
[ -x "$folder/python/bin/pip" ] || python3 -m venv "$folder/python" >&2
"$folder/python/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps \
  --only-binary :all: --target "$folder/unfinished" -r "$list" >&2
# cuDNN and NCCL come in folders of their own; the build wants one.
cuda=$folder/unfinished/nvidia/cu13
for part in cudnn nccl; do
  for kind in include lib; do
    for file in "$folder/unfinished/nvidia/$part/$kind"/*; do
      name=$(basename "$file")
      [ "$name" = __init__.py ] || ln -sf "../../$part/$kind/$name" "$cuda/$kind/"
    done
  done
done
is_whole "$cuda" || {
  echo "setup: the wheels do not hold what the build needs; look into $folder/unfinished" >&2
  exit 3
}
mv "$folder/unfinished/nvidia" "$folder/nvidia"
rm -rf "$folder/unfinished"
found "$folder/nvidia/cu13"
