#!/usr/bin/env bash
# Runs a Python program that needs PyTorch with the interpreter that SHARDMILL_PYTORCH names
# (default: Debian's, for its python3-torch). Without PyTorch the test is skipped and says so.
# usage: with_pytorch.sh PROGRAM.py [ARGUMENTS...]
set -uo pipefail

python=${SHARDMILL_PYTORCH:-/usr/bin/python3}
if "$python" -c 'import torch' 2>/dev/null; then
  exec "$python" -W ignore "$@"
fi
reason="$python has no PyTorch (apt-get install python3-torch, or name another with SHARDMILL_PYTORCH)"
echo "SKIPPED: $reason"
[ -z "${XML_OUTPUT_FILE:-}" ] || cat >"$XML_OUTPUT_FILE" <<XML
<testsuites><testsuite name="live_test" tests="1" skipped="1">
<testcase name="live_test" result="skipped"><skipped message="$reason"/></testcase>
</testsuite></testsuites>
XML
