# Sourced by gpu_check.sh: the rows of its table, and the JSON file.

rows=()
failed=0
between=$'\x1f' # the fields of a row; no white space, of which read drops empty fields

row() { # NAME passed|failed|skipped SECONDS NOTE [KEY=NUMBER...]
  local name=$1 result=$2 seconds=$3 note=$4
  shift 4
  rows+=("$name$between$result$between$seconds$between$note$between$*")
  printf '%-28s %-8s %4s s  %s\n' "$name" "$result" "$seconds" "$note"
  [ "$result" != failed ] || failed=1
  write_results
}

number() { # JSON KEY: of a line "KEY": NUMBER; nothing when there is none
  sed -n "s/^ *\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" <<<"$1" | head -n 1
}

text() { # a JSON string
  local value=$1
  value=${value//\\/\\\\}
  value=${value//\"/\\\"}
  printf '"%s"' "${value//[[:cntrl:]]/}"
}

count() { # RESULT: how many rows have it
  local entry number=0
  for entry in "${rows[@]}"; do
    [[ $entry != *"$between$1$between"* ]] || number=$((number + 1))
  done
  printf '%s' $number
}

is_number() { # TEXT
  [[ $1 =~ ^-?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?$ ]]
}

write_values() { # KEY=NUMBER...
  local separator="" value number
  printf '{'
  for value in "$@"; do
    # A number that a failed run did not print is null.
    number=${value#*=}
    is_number "$number" || number=null
    printf '%s"%s": %s' "$separator" "${value%%=*}" "$number"
    separator=", "
  done
  printf '}'
}

write_checks() {
  local separator="" entry name result seconds note values
  for entry in "${rows[@]}"; do
    IFS=$between read -r name result seconds note values <<<"$entry"
    printf '%s\n    {"name": ' "$separator"
    text "$name"
    printf ', "result": "%s", "seconds": %s, "note": ' "$result" "$seconds"
    text "$note"
    printf ', "values": '
    # shellcheck disable=SC2086 # words
    write_values $values
    printf '}'
    separator=,
  done
}

# Lines "NAME  MICROSECONDS us  RATE GB/s  SHARE" of kernel_bandwidth.
write_bandwidths() {
  [ -n "$bandwidth_rows" ] || return 0
  awk '{
    name = $1
    for (i = 2; i <= NF - 5; ++i) name = name " " $i
    printf "%s\n    {\"kernel\": \"%s\", \"microseconds\": %s, \"gigabytes_per_s\": %s, " \
      "\"share_of_copy\": %s}", separator, name, $(NF - 4), $(NF - 2), $NF
    separator = ","
  }' <<<"$bandwidth_rows"
}

write_results() { # all rows so far
  {
    printf '{\n  "device": '
    text "$device"
    printf ',\n  "seconds": %s,\n  "passed": %s,\n  "failed": %s,\n  "skipped": %s,\n' \
      "$SECONDS" "$(count passed)" "$(count failed)" "$(count skipped)"
    printf '  "checks": ['
    write_checks
    printf '\n  ],\n  "bandwidths": ['
    write_bandwidths
    printf '\n  ]\n}\n'
  } >"$results" && return 0
  echo "gpu_check: cannot write $results" >&2
  failed=1
  return 1
}

report() { # says the sum, and ends with the exit code
  echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped in $SECONDS s;" \
    "see $results"
  exit $failed
}
