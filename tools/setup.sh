#!/usr/bin/env bash
# Installs from Debian whatever the build and the tests need and this machine lacks.
# Idempotent; takes well under a second when everything is there. Uses sudo when not root.
# usage: tools/setup.sh [--checks | --cuda]
#   --checks  also what .ci/run needs (formatting, fuzzing)
#   --cuda    also CUDA, cuDNN and NCCL, unless they are there (see cuda_wheels.sh); its last line
#             is what to put into the environment before bazel runs
set -euo pipefail

packages=(
  # build
  bazel-bootstrap bazel-rules-java g++ protobuf-compiler python3
  # libraries
  libcli11-dev libdnnl-dev libhwy-dev libisal-dev libjpeg62-turbo-dev libopencv-dev libpng-dev
  libprotobuf-dev libpugixml-dev libtiff-dev liburing-dev libxxhash-dev libzstd-dev
  rapidjson-dev
  # several ranks
  libopenmpi-dev openmpi-bin
  # tests and benchmarks
  libbenchmark-dev libgmock-dev libgtest-dev zlib1g-dev
)
cuda=0
case "${1:-}" in
  "") ;;
  --checks) packages+=(clang clang-format libclang-rt-dev) ;;
  --cuda) packages+=(python3-venv); cuda=1 ;;
  *) echo "usage: tools/setup.sh [--checks | --cuda]" >&2; exit 2 ;;
esac

finish() {
  local home
  [ $cuda -eq 1 ] || exit 0
  home=$("$(dirname "${BASH_SOURCE[0]}")/cuda_wheels.sh")
  echo "export CUDA_HOME=$home"
  exit 0
}

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed" >&2
  finish
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: these packages are missing and neither root nor sudo is available:" >&2
    echo "  ${missing[*]}" >&2
    echo "Ask an administrator to run: apt-get install ${missing[*]}" >&2
    exit 3
  fi
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
echo "setup: done" >&2
finish
