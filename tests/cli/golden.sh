#!/usr/bin/env bash
# Bazel's way to golden.py: arguments are paths under the runfiles.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/golden.py" "$@"
