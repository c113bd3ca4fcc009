#!/usr/bin/env bash
# Installs what is missing, builds everything as users run it (-c opt) and runs every test.
# The last line is "N passed, N failed, N skipped", counted from the tests' own XML.
# Further arguments go to bazel, for example: tools/test.sh --config=asan
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh || exit

options=(-c opt --keep_going "$@")
# All programs and tests, which bring their libraries along. `//...` would compile each library a
# second time, for a shared library that nothing loads.
everything='kind("_binary|_test", //...) except attr(tags, manual, //...)'
mapfile -t targets < <(bazel query "$everything" 2>/dev/null)
[ ${#targets[@]} -gt 0 ] || { bazel query "$everything"; exit 1; }
bazel build "${options[@]}" "${targets[@]}"
build_status=$?
bazel test "${options[@]}" --build_tests_only //tests/...
test_status=$?

logs=$(bazel info "${options[@]}" bazel-testlogs 2>/dev/null)
# shellcheck disable=SC2046 # labels have no blanks
python3 tools/count_tests.py "$logs" $(bazel query 'tests(//tests/...)' 2>/dev/null)
count_status=$?

if [ $count_status -ne 0 ]; then exit $count_status; fi
# 4: nothing to run under the given filters. Anything else that is not 0 has failed.
if [ $build_status -ne 0 ]; then exit $build_status; fi
if [ $test_status -ne 0 ] && [ $test_status -ne 4 ]; then exit $test_status; fi
