#!/usr/bin/env bash
# What gpu_check.sh makes of its programs' answers, which are given here as recorded lines: the
# table, the JSON file and the exit code. The programs themselves need a GPU.
# usage: gpu_check_test.sh GPU_CHECK.SH REPORT.SH
set -uo pipefail

python=$(command -v python3)
work=${TEST_TMPDIR:?run by bazel test}/gpu_check
failures=0

fake() { # FILE LINE...: a program that prints the lines; EXIT is what it ends with
  local file=$1
  shift
  { printf '#!/bin/sh\ncat <<"END"\n'; printf '%s\n' "$@"; printf 'END\nexit %s\n' "${EXIT:-0}"; } \
    >"$file"
  chmod +x "$file"
}

passing_tests() { # FILE COUNT
  fake "$1" "[==========] $2 tests from 1 test suite ran. (3 ms total)" "[  PASSED  ] $2 tests."
}

# Its log has 20 steps that wait and take long, then 40 usual ones and 10 at the ends of epochs.
trained() { # SCORE WAITING [PLANS_BUILT]
  fake "$work/set/shardmill-train" \
    "note: plans of convolutions: ${3:-0} built, 66 from plans" '{' '  "complete": true,' "  \"best_score\": $1," \
    '  "images_per_s": 3.2,' '  "waiting_share": 0.9,' '  "seconds": 4.2' '}'
  awk -v share="$2" 'BEGIN {
    print "{\"kind\": \"start\", \"step\": 0}"
    for (i = 1; i <= 70; ++i) {
      ms = i <= 20 ? 2000 : i % 5 == 0 ? 40 : 5.3315
      wait = i <= 20 ? 1900 : ms * share
      printf "{\"kind\": \"step\", \"step\": %d, \"images\": 8, \"images_per_s\": 1, \"wait_ms\": %.9g, " \
        "\"copy_ms\": 0, \"total_ms\": %.9g, \"waiting_share\": 0}\n", i, wait, ms
    }
  }' >"$work/log.jsonl"
  # The program leaves it where --output says.
  sed -i "2i while [ \$# -gt 1 ]; do [ \"\$1\" != --output ] || output=\$2; shift; done" \
    "$work/set/shardmill-train"
  sed -i "3i mkdir -p \"\$output\" && cp '$work/log.jsonl' \"\$output/\"" "$work/set/shardmill-train"
}

# A collected folder whose checks all pass.
make_folder() { # SOURCE_SCRIPTS...
  rm -rf "$work"
  mkdir -p "$work/set/data" "$work/bin" "$work/out"
  cp "$@" "$work/set/"
  cp /bin/true "$work/set/libshardmill_cuda.so"
  passing_tests "$work/set/runtime_test" 1
  passing_tests "$work/set/device_kernels_test" 2
  passing_tests "$work/set/cuda_ops_test" 5
  fake "$work/set/kernel_bandwidth" \
    'copy                              540.1 us     4003 GB/s   1.00' \
    'cross-entropy + gradient           70.5 us     3202 GB/s   0.80'
  trained 0.97 0.001
  fake "$work/bin/nvidia-smi" 'NVIDIA H200, 580.95'
  fake "$work/bin/python3" '{"torch": "2.9", "way": "compiled", "ms": [8], "images_per_s": 1000.0}'
  passing_tests "$work/bin/compute-sanitizer" 1
}

run() { # EXPECTED_EXIT: leaves what was printed in `output`
  output=$(PATH="$work/bin:$PATH" bash "$work/set/gpu_check.sh" "$work/out/results.json" 2>&1)
  local status=$?
  [ $status -eq "$1" ] || fail "ended with $status, expected $1"
}

fail() { # WHAT
  echo "FAILED: $1" >&2
  printf '%s\n' "$output" | sed 's/^/  | /' >&2
  failures=1
}

# The value of a Python expression over the JSON file `r`, its checks by name in `c`.
expect_json() { # EXPRESSION
  "$python" - "$work/out/results.json" "$1" <<'PYTHON' || fail "not so in the JSON: $1"
import json
import sys

r = json.load(open(sys.argv[1]))
assert sorted(r) == ["bandwidths", "checks", "device", "failed", "passed", "seconds", "skipped"], r
for check in r["checks"]:
    assert sorted(check) == ["name", "note", "result", "seconds", "values"], check
    assert check["result"] in ("passed", "failed", "skipped"), check
    assert isinstance(check["seconds"], int), check
    assert all(v is None or isinstance(v, (int, float)) for v in check["values"].values()), check
for row in r["bandwidths"]:
    assert sorted(row) == ["gigabytes_per_s", "kernel", "microseconds", "share_of_copy"], row
for result in ("passed", "failed", "skipped"):
    assert r[result] == sum(check["result"] == result for check in r["checks"]), r
c = {check["name"]: check for check in r["checks"]}
sys.exit(not eval(sys.argv[2]))
PYTHON
}

expect_text() { # TEXT
  grep -qF -- "$1" <<<"$output" || fail "not said: $1"
}

scripts=("$1" "$2")
make_folder "${scripts[@]}"
run 0
expect_text '19 passed, 0 failed, 0 skipped'
expect_json 'r["device"] == "NVIDIA H200, 580.95" and r["passed"] == 19'
expect_json 'c["U-Net, bf16"]["values"] == {"images_per_s": 1500.5, "waiting_share": 0.001}'
expect_json 'c["beside PyTorch"]["values"]["ratio"] == 1.5'
expect_json 'r["bandwidths"][1] == {"kernel": "cross-entropy + gradient", "microseconds": 70.5,
    "gigabytes_per_s": 3202, "share_of_copy": 0.8}'
expect_json 'c["overfitting"]["values"]["miou"] == 0.97'

# A kernel that computes another thing, as GoogleTest reports it.
EXIT=1 fake "$work/set/device_kernels_test" 'device_kernels_test.cc:34: Failure' \
  'shape "1 x 5 x 7 x 3"	of \y' '[  FAILED  ] 1 test, listed below:'
run 1
expect_text '18 passed, 1 failed, 0 skipped'
expect_json 'c["kernels beside the host"]["result"] == "failed"'
expect_text 'device_kernels_test.cc:34: Failure'
expect_json 'c["kernels beside the host"]["note"].startswith("exit 1: shape \"1 x 5 x 7 x 3\"")'

# A test program that skips all of its tests, and one that has none of that name.
make_folder "${scripts[@]}"
fake "$work/set/runtime_test" '[  PASSED  ] 0 tests.' '[  SKIPPED ] 1 test, listed below:'
fake "$work/set/cuda_ops_test" '[  PASSED  ] 0 tests.'
run 1
expect_json '[name for name in c if c[name]["result"] == "failed"] == ["code for this device",
    "convolutions", "fused = unfused", "plans for those that fail", "training beside the host",
    "eager = captured", "passes over one batch", "input path", "NCCL, 1 rank",
    "NCCL in a captured step"]'

# A program that neither ends nor heeds SIGTERM, as one that hangs in the driver; and the checks
# behind it.
make_folder "${scripts[@]}"
sed -i 's/^most_seconds=.*/most_seconds=2/; s/--kill-after=5/--kill-after=0.2/' \
  "$work/set/gpu_check.sh"
printf '#!/bin/bash\ntrap "" TERM\nwhile :; do sleep 0.1; done\n' >"$work/set/runtime_test"
run 1
expect_json '"not done within" in c["code for this device"]["note"]'
expect_json 'c["kernels beside the host"]["result"] == "passed" and len(c) == 19'

# A run that is cut short: what it knew is there.
make_folder "${scripts[@]}"
cat >"$work/set/cuda_ops_test" <<'PROGRAM'
#!/bin/sh
script=$PPID # timeout, in a subshell of the script
for parent in 1 2; do read -r _ _ _ script _ <"/proc/$script/stat"; done
kill -TERM "$script"
PROGRAM
run 1
expect_json 'c["kernels beside the host"]["result"] == "passed" and r["failed"] == 0'

# A training that ends well and does not say how fast it was.
make_folder "${scripts[@]}"
fake "$work/set/shardmill-train" '{}'
run 1
expect_json 'c["U-Net, bf16"]["note"] == "it did not say its speed"'
expect_json 'c["overfitting"]["result"] == "failed"'
expect_json 'c["beside PyTorch"]["result"] == "skipped"'

# Goals that are missed.
make_folder "${scripts[@]}"
trained 0.42 0.25
fake "$work/bin/python3" '{"torch": "2.9", "way": "compiled", "ms": [8], "images_per_s": 1400.0}'
run 1
expect_json 'c["overfitting"]["result"] == "failed" and r["failed"] == 5'
expect_json 'c["beside PyTorch"]["values"]["ratio"] == 1.07'

# A second start that builds plans again.
make_folder "${scripts[@]}"
trained 0.97 0.001 12
run 1
expect_json 'c["plans of a second start"]["values"] == {"built": 12} and r["failed"] == 1'

# A training that ends with an error and quotes; nothing is left to compare.
make_folder "${scripts[@]}"
EXIT=5 fake "$work/set/shardmill-train" 'error: no "bf16" \ here'
run 1
expect_json '"no \"bf16\" \\ here" in c["U-Net, bf16"]["note"]'
expect_json 'c["beside PyTorch"]["result"] == "skipped"'

# No PyTorch and no sanitizer: said, and no failure.
make_folder "${scripts[@]}"
EXIT=1 fake "$work/bin/python3" 'no module'
rm "$work/bin/compute-sanitizer"
if ! command -v compute-sanitizer >/dev/null; then
  CUDA_HOME=/nonexistent run 0
  expect_text '17 passed, 0 failed, 2 skipped'
fi

# No GPU: the results of the run before are not left for those of this one.
EXIT=9 fake "$work/bin/nvidia-smi" ''
[ -e "$work/out/results.json" ] || fail "there are no results to go"
run 5
expect_text 'gpu_check: no GPU'
[ ! -e "$work/out/results.json" ] || fail "there are results without a GPU"

# Words that mean nothing start nothing, and neither does a folder that was copied in part.
asked() { # EXPECTED_EXIT WORD...
  local expected=$1 status
  shift
  output=$(cd "$work/out" && PATH="$work/bin:$PATH" bash "$work/set/gpu_check.sh" "$@" 2>&1)
  status=$?
  [ $status -eq "$expected" ] || fail "$*: ended with $status, expected $expected"
  [ -z "$(ls -A "$work/out")" ] || fail "$*: left $(ls -A "$work/out")"
}
make_folder "${scripts[@]}"
asked 0 --help
expect_text 'usage: gpu_check.sh --collect FOLDER [DATASET]'
asked 2 --colect "$work/other"
expect_text 'usage: gpu_check.sh'
asked 2 results.json more.json
asked 2 --collect
rm "$work/set/kernel_bandwidth"
asked 2
expect_text 'lacks kernel_bandwidth: collect it anew'

# A collection never replaces what it did not make.
mkdir "$work/mine" && touch "$work/mine/file"
output=$(bash "$work/set/gpu_check.sh" --collect "$work/mine" 2>&1)
[ $? -eq 2 ] && [ -e "$work/mine/file" ] || fail "a folder with other files was taken"
exit $failures
