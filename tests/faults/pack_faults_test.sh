#!/usr/bin/env bash
# The real packer under a hostile operating system: each refused write, flush or rename must end
# in a non-zero exit and a message, leave nothing partial under a final name, and not stand in the
# way of the same command run again.
# usage: pack_faults_test.sh SHARDMILL SHIM
set -uo pipefail

shardmill=$(realpath "$1")
shim=$(realpath "$2")
work=${TEST_TMPDIR:?run by bazel test}
cd "$work" || exit 1

failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
  outcome="<failure message=\"$(in_xml "$*")\"/>"
}
skip() {
  echo "SKIPPED: $current: $*"
  outcome="<skipped message=\"$(in_xml "$*")\"/>"
}

# Cases are written as JUnit XML, so that those that had to be skipped are counted.
cases=""
current=""
outcome=""
in_xml() { tr -d '\000-\010\013\014\016-\037' <<<"$1" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g'; }
begin() { # CASE; ends the one before
  [ -z "$current" ] ||
    cases+="<testcase classname=\"PackFaults\" name=\"$(in_xml "$current")\">$outcome</testcase>"$'\n'
  current=${1:-}
  outcome=""
}
write_cases() {
  begin
  [ -z "${XML_OUTPUT_FILE:-}" ] ||
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="PackFaults">\n%s</testsuite></testsuites>\n' \
      "$cases" >"$XML_OUTPUT_FILE"
}
trap write_cases EXIT
begin "setup"

sizes=(--shard-size 700KiB --block-size 256KiB)
pack() { "$shardmill" pack scenes -o "$1" "${sizes[@]}" --jobs 2 --quiet; }

# Whatever lies in FOLDER under a final name is whole.
check_final_names() { # FOLDER CASE
  local shard
  for shard in "$1"/*.shard; do
    [ -e "$shard" ] || continue
    "$shardmill" verify "$shard" --quiet >/dev/null || fail "$2: $shard is under its final name but not sound"
  done
  if [ -e "$1/manifest.json" ]; then
    "$shardmill" verify "$1" --quiet >/dev/null || fail "$2: there is a manifest, but the set is not sound"
  fi
}

same_files() { # FOLDER CASE: those of an undisturbed pack are there
  local file
  for file in whole/*.shard whole/manifest.json; do
    cmp -s "$file" "$1/$(basename "$file")" || fail "$2: $(basename "$file") differs from an undisturbed pack"
  done
}

same_set() { # FOLDER CASE: the shards and the manifest equal those of an undisturbed pack
  same_files "$1" "$2"
  [ "$(find "$1" -name '*.shard' | wc -l)" = "$(find whole -name '*.shard' | wc -l)" ] ||
    fail "$2: not the same number of shards"
}

finished() { stat -c '%n %i %y' "$1"/*.shard 2>/dev/null; }

# The same command again keeps what is finished and makes the rest.
go_on() { # FOLDER CASE
  local before after kept line
  before=$(finished "$1")
  kept=$(grep -c . <<<"$before")
  "$shardmill" pack scenes -o "$1" "${sizes[@]}" --jobs 2 --quiet --json >summary ||
    fail "$2: the same command again failed"
  grep -q "\"kept_shards\": $kept," summary || fail "$2: $kept shards were finished: $(grep -o '"kept_shards[^,]*' summary)"
  after=$(finished "$1")
  while read -r line; do
    [ -z "$line" ] || grep -qxF -- "$line" <<<"$after" || fail "$2: not kept: $line"
  done <<<"$before"
}

faulty_case() { # CASE EXPECTED_EXIT EXPECTED_TEXT SETTING...
  local name=$1 expected=$2 text=$3
  shift 3
  begin "$name"
  rm -rf out
  local output status
  output=$(env SHARDMILL_FAULT_UNDER="$work/out" "$@" LD_PRELOAD="$shim" \
    "$shardmill" pack scenes -o "$work/out" --shard-size 700KiB --block-size 256KiB --jobs 2 --quiet 2>&1)
  status=$?
  [ $status -eq "$expected" ] || fail "$name: exit $status, expected $expected: $output"
  grep -q "$text" <<<"$output" || fail "$name: the message lacks '$text': $output"
  check_final_names out "$name"
  [ "$expected" -eq 0 ] || [ ! -e out/manifest.json ] || fail "$name: it failed, yet there is a manifest"
  [ "$expected" -eq 0 ] || go_on out "$name"
  same_set out "$name"
}

"$shardmill" sample -o scenes --count 40 --height 96 --width 128 >/dev/null || { fail "sample: exit $?"; exit 1; }
pack whole >/dev/null || { fail "the undisturbed pack: exit $?"; exit 1; }
"$shardmill" verify whole --quiet || exit 1
[ "$(find whole -name '*.shard' | wc -l)" -ge 3 ] || fail "the set is too small to test anything"

faulty_case "disk full at once" 3 "No space left" SHARDMILL_FAULT_AFTER=0
faulty_case "disk full in the first shard" 3 "No space left" SHARDMILL_FAULT_AFTER=100000
faulty_case "disk full in a later shard" 3 "No space left" SHARDMILL_FAULT_AFTER=1200000
faulty_case "I/O error" 3 "Input/output error" SHARDMILL_FAULT_AFTER=300000 SHARDMILL_FAULT_ERRNO=EIO
faulty_case "flush fails" 3 "Input/output error" SHARDMILL_FAULT_FSYNC=1
faulty_case "rename fails" 3 "Input/output error" SHARDMILL_FAULT_RENAME=1
faulty_case "an input is gone for a moment" 3 "the same command goes on from there" SHARDMILL_FAULT_GONE=val_labels/scene_0038_L.png
faulty_case "short writes are completed" 0 "" SHARDMILL_FAULT_SHORT=1000
faulty_case "interrupted writes are repeated" 0 "" SHARDMILL_FAULT_EINTR=1

begin "an input that is gone is not left out"
# It is no bad input: no good set is replaced without it.
for gone in val/scene_0038.png val_labels/scene_0038_L.png "val_labels/scene_0038_L.png --dry-run"; do
  cp -r whole out
  output=$(env SHARDMILL_FAULT_UNDER="$work/out" SHARDMILL_FAULT_GONE="${gone% *}" LD_PRELOAD="$shim" \
    "$shardmill" pack scenes -o "$work/out" "${sizes[@]}" --overwrite --on-error skip=9 --jobs 2 \
    $(grep -o -e --dry-run <<<"$gone") 2>&1)
  status=$?
  [ $status -eq 3 ] || fail "$gone is gone: exit $status, expected 3: $output"
  grep -q "${gone% *}: No such file" <<<"$output" || fail "$gone is gone: not named in: $output"
  "$shardmill" verify out --quiet >/dev/null || fail "$gone is gone: the old set is not whole"
  same_files out "$gone is gone"
  rm -rf out
done

begin "file size limit"
# The limit on file sizes is an error of the write like any other, not a signal.
rm -rf out
output=$(ulimit -f 300 && pack out 2>&1)
status=$?
[ $status -eq 3 ] || fail "file size limit: exit $status, expected 3: $output"
grep -q "File too large" <<<"$output" || fail "file size limit: the message lacks the reason: $output"
check_final_names out "file size limit"
[ -z "$(find out -name '*.tmp*' -o -name manifest.json 2>/dev/null)" ] ||
  fail "file size limit: something partial is left"
go_on out "file size limit"
same_set out "file size limit"

begin "OUT is a file"
# A folder that may not be written. Root may write anywhere, so this needs a file in the way.
rm -rf out && touch out
if pack out >/dev/null 2>message; then fail "OUT is a file: the pack succeeded"; fi
grep -q out message || fail "OUT is a file: the message does not name it: $(cat message)"
rm -f out

begin "OUT removed under the packer"
# The folder vanishes under the packer: an error, not a crash.
pack out 2>message &
packer=$!
until [ -n "$(find out -name '*.tmp*' 2>/dev/null)" ] || ! kill -0 $packer 2>/dev/null; do :; done
rm -rf out
wait $packer
status=$?
if [ -e out/manifest.json ]; then
  : # it was faster than the removal and made the folder again
elif [ $status -eq 0 ] || [ $status -ge 128 ]; then
  fail "OUT removed under the packer: exit $status: $(cat message)"
else
  rm -rf out
  pack out >/dev/null || fail "OUT removed under the packer: the same command again failed"
  same_set out "OUT removed under the packer"
fi

begin "full and read-only disk"
# A disk that is really full, and one that may only be read, where this process may mount.
mkdir -p disk
if mount -t tmpfs -o size=1m none disk 2>/dev/null; then
  pack disk/out >/dev/null 2>message
  status=$?
  [ $status -eq 3 ] || fail "full disk: exit $status, expected 3: $(cat message)"
  grep -q "No space left on device" message || fail "full disk: no reason in: $(cat message)"
  grep -q "the same command goes on from there" message || fail "full disk: no way on in: $(cat message)"
  check_final_names disk/out "full disk"
  [ -n "$(finished disk/out)" ] || fail "full disk: no shard is finished"
  mount -o remount,ro disk
  pack disk/out >/dev/null 2>message
  status=$?
  [ $status -eq 3 ] || fail "read-only disk: exit $status, expected 3: $(cat message)"
  grep -q "disk/out: Read-only file system" message || fail "read-only disk: not said in: $(cat message)"
  mount -o remount,rw,size=20m disk
  go_on disk/out "full disk"
  same_set disk/out "full disk"
  umount disk
else
  skip "this process may not mount"
fi

begin "two packs into one folder"
# Two packs into one folder: the second refuses, the first, which stops itself in the middle of a
# shard, is not disturbed.
rm -rf out
env SHARDMILL_FAULT_UNDER="$work/out" SHARDMILL_FAULT_FREEZE=100000 LD_PRELOAD="$shim" \
  "$shardmill" pack scenes -o "$work/out" --shard-size 700KiB --block-size 256KiB --jobs 1 --quiet \
  >/dev/null &
first=$!
until grep -q ') T ' /proc/$first/stat || ! kill -0 $first; do sleep 0.01; done 2>/dev/null
if pack out >/dev/null 2>message; then fail "a second pack into the same folder succeeded"; fi
grep -q "another pack" message || fail "the second pack does not say why it stops: $(cat message)"
grep -q "process $first on " message || fail "the second pack does not name process $first: $(cat message)"
if "$shardmill" pack scenes -o out "${sizes[@]}" --shards 0 --quiet >/dev/null 2>message; then
  fail "a slice beside a whole pack succeeded"
fi
grep -q "process $first on .*, a whole pack" message || fail "the slice does not say why it stops: $(cat message)"
kill -CONT $first
wait $first || fail "the first of two packs was disturbed"
same_set out "two packs into one folder"

begin "slices"
# Two slices at the same time in two processes; a whole pack beside them refuses.
rm -rf out
slices=()
for range in 0-1 2-9; do
  last=$(($(find whole -name '*.shard' | wc -l) - 1))
  range=${range/9/$last}
  "$shardmill" pack scenes -o out "${sizes[@]}" --shards $range --quiet >/dev/null 2>"message-$range" &
  slices+=($!)
done
for slice in "${slices[@]}"; do wait $slice || fail "a slice failed: $(cat message-*)"; done
[ ! -e out/manifest.json ] || fail "slices wrote a manifest"
"$shardmill" pack scenes -o out "${sizes[@]}" --finish --quiet >/dev/null || fail "--finish failed"
same_set out "slices"

[ $failures -eq 0 ] && echo "all fault cases passed"
exit $((failures > 0))
