# For the clients' `run`: a check is a command, the exit code that it should end with, and what it should say.
# shellcheck shell=bash
passed=0 failed=0
probe=$prefix/tests/launcher/launcher_boot_probe # a program that is nothing but its boot
programs=$prefix/tests/programs

# check <name> <exit code, or nonzero> <regular expression> <command...>
check() {
  local name=$1 wanted=$2 says=$3 code=0 output
  shift 3
  output=$(timeout 60 "$@" </dev/null 2>&1 | tr -d '\0' | tail -n 200) || code=$?
  if { [ "$code" = "$wanted" ] || { [ "$wanted" = nonzero ] && [ "$code" != 0 ] && [ "$code" != 124 ]; }; } &&
    grep -qE -- "$says" <<<"$output"; then
    say "ok      $name"
    passed=$((passed + 1))
  else
    say "FAILED  $name: exit code $code, expected $wanted and /$says/ in"
    say "$output"
    failed=$((failed + 1))
  fi
}

# check_documented <launcher> <directory>: each line of docs/running.md's blocks that begin with ```sh <launcher>, as it
# stands there, in a directory that has a program `solver`.
check_documented() {
  local line lines
  ln -sf "$programs/p2p_match" "$2/solver"
  lines=$(awk -v head="\`\`\`sh $1" '$0 == head { inside = 1; next } /^```/ { inside = 0 } inside' "$ROOT/docs/running.md")
  [ -n "$lines" ] || die "docs/running.md has no commands of $1"
  while read -r line; do
    check "documented: $line" 0 "" bash -c "cd '$2' && $line"
  done <<<"$lines"
}

finish_checks() {
  say "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
