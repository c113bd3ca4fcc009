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
}

number() { # JSON KEY: of a line "KEY": NUMBER; nothing when there is none
  sed -n "s/^ *\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" <<<"$1" | head -n 1
}

text() { # a JSON string
  local value=$1
  value=${value//\\/\\\\}
  value=${value//\"/\\\"}
  printf '"%s"' "$(tr -d '\000-\037' <<<"$value")"
}

count() { # RESULT: how many rows have it
  printf '%s\n' "${rows[@]}" | awk -F "$between" -v result="$1" '$2 == result' | wc -l
}

write_values() { # KEY=NUMBER...
  local separator="" value
  printf '{'
  for value in "$@"; do
    # A number that a failed run did not print is null.
    printf '%s"%s": %s' "$separator" "${value%%=*}" "$(awk -v text="${value#*=}" \
      'BEGIN {print text ~ /^-?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?$/ ? text : "null"}')"
    separator=", "
  done
  printf '}'
}

write_checks() {
  local separator="" name result seconds note values
  for entry in "${rows[@]}"; do
    IFS=$between read -r name result seconds note values <<<"$entry"
    printf '%s\n    {"name": %s, "result": "%s", "seconds": %s, "note": %s, "values": ' \
      "$separator" "$(text "$name")" "$result" "$seconds" "$(text "$note")"
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

report() { # FILE: writes it, says the sum, and ends with the exit code
  local passed
  passed=$(count passed)
  {
    printf '{\n  "device": %s,\n  "seconds": %s,\n' "$(text "$device")" "$SECONDS"
    printf '  "passed": %s,\n  "failed": %s,\n  "skipped": %s,\n' "$passed" "$(count failed)" \
      "$(count skipped)"
    printf '  "checks": [%s\n  ],\n' "$(write_checks)"
    printf '  "bandwidths": [%s\n  ]\n}\n' "$(write_bandwidths)"
  } >"$1" || failed=1
  echo "$passed passed, $(count failed) failed, $(count skipped) skipped in $SECONDS s; see $1"
  exit $failed
}
