# Sourced by shell tests that may have to be skipped.

# Ends the test as skipped: says why, also to tools/count_tests.py.
skip() { # REASON
  echo "SKIPPED: $1"
  if [ -n "${XML_OUTPUT_FILE:-}" ]; then
    local name=${TEST_TARGET:-test}
    cat >"$XML_OUTPUT_FILE" <<XML
<testsuites><testsuite name="$name" tests="1" skipped="1">
<testcase name="$name" result="skipped"><skipped message="$1"/></testcase>
</testsuite></testsuites>
XML
  fi
  exit 0
}
