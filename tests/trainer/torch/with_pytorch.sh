#!/usr/bin/env bash
# Runs a Python program that needs PyTorch with the interpreter that SHARDMILL_PYTORCH names
# (default: Debian's, for its python3-torch). Without PyTorch the test is skipped and says so.
# usage: with_pytorch.sh PROGRAM.py [ARGUMENTS...]
set -uo pipefail
source tests/trainer/skip.sh

python=${SHARDMILL_PYTORCH:-/usr/bin/python3}
"$python" -c 'import torch' 2>/dev/null ||
  skip "$python has no PyTorch (apt-get install python3-torch, or name another with SHARDMILL_PYTORCH)"
exec "$python" -W ignore "$@"
