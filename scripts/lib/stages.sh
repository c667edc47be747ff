# Stages: named steps of a long run. One that fails does not stop the others; the counts at the end say what passed.
# shellcheck shell=bash
PASSED=0
FAILED=0
FAILED_STAGES=()

# stage <name> <command...>: a step of one test, its output in build/log/<name>.log and shown when it fails.
stage() {
  local name=$1 log=$LOGS/$1.log start=$SECONDS code=0
  shift
  "$@" </dev/null >"$log" 2>&1 || code=$?
  count "$name" "$log" "$code"
  report "$name" "$log" "$code" $((SECONDS - start))
}

# How many tests the log tells of: ctest's line, or `N passed, N failed`; a command that tells none is one test itself.
count() {
  local name=$1 log=$2 code=$3 line
  STAGE_PASSED=0 STAGE_FAILED=0 STAGE_SKIPPED=0
  if line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' "$log" | tail -n 1) && [ -n "$line" ]; then
    [[ $line =~ passed,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]
    STAGE_FAILED=${BASH_REMATCH[1]}
    STAGE_SKIPPED=$(grep -c '\*\*\*Skipped' "$log" || true)
    STAGE_PASSED=$((BASH_REMATCH[2] - STAGE_FAILED - STAGE_SKIPPED))
  elif line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1) && [ -n "$line" ]; then
    [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]
    STAGE_PASSED=${BASH_REMATCH[1]} STAGE_FAILED=${BASH_REMATCH[2]}
  elif [ "$code" = 0 ]; then
    STAGE_PASSED=1
  fi
  if [ "$code" != 0 ] && [ "$STAGE_FAILED" = 0 ]; then STAGE_FAILED=1; fi
  PASSED=$((PASSED + STAGE_PASSED))
  FAILED=$((FAILED + STAGE_FAILED))
}

# What could not run here: no test of a number, and no failure.
skipped() { [ "$STAGE_SKIPPED" = 0 ] || printf ', %d skipped' "$STAGE_SKIPPED"; }

report() {
  local name=$1 log=$2 code=$3 took=$4
  if [ "$code" = 0 ]; then
    printf '%-18s ok      %4d s  %d passed%s\n' "$name" "$took" "$STAGE_PASSED" "$(skipped)"
    return
  fi
  FAILED_STAGES+=("$name")
  printf '%-18s FAILED  %4d s  %d passed, %d failed\n' "$name" "$took" "$STAGE_PASSED" "$STAGE_FAILED"
  # Of ctest's log, the output of the tests that failed; of any other, the end.
  if grep -q '% tests passed' "$log"; then
    awk '/\*\*\*/ { show = 1 } /^ *Start +[0-9]+:|^ *[0-9]+\/[0-9]+ Test .* Passed / { show = 0 } show || /tests passed,/' "$log" |
      tail -n 300 | sed 's/^/    /'
    sed -n '/The following tests FAILED/,/^Errors/p' "$log" | sed 's/^/    /'
  else
    tail -n 40 "$log" | sed 's/^/    /'
  fi
  say "    all of it: $log"
}

# The last line is the one that tells machines too.
finish_stages() {
  [ ${#FAILED_STAGES[@]} = 0 ] || say "failed: ${FAILED_STAGES[*]}"
  say "all of it took $((SECONDS / 60)) min $((SECONDS % 60)) s"
  say "$PASSED passed, $FAILED failed"
  [ "$FAILED" = 0 ]
}
