# For the clients' `run`: a check is a command, the exit code that it should end with, and what it should say.
# shellcheck shell=bash
passed=0 failed=0
probe=$prefix/tests/launcher/launcher_boot_probe # a program that is nothing but its boot
programs=$prefix/tests/programs

# check <name> <exit code, or nonzero> <regular expression> <command...>
check() {
  local name=$1 wanted=$2 says=$3 code output
  shift 3
  # Now and then PRRTE's own server cannot listen, and it ends before it has started anything: that is tried again.
  for _ in 1 2 3; do
    code=0
    output=$(timeout "${seconds:-60}" "$@" </dev/null 2>&1 | tr -d '\0' | tail -n 200) || code=$?
    grep -q "listener-thread-start" <<<"$output" || break
    say "again   $name: the launcher's server does not listen"
  done
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

check_longer() {
  local seconds=180
  check "$@"
}

# check_launched <name> <directory> <launcher...>: standard input (not its end, which PRRTE keeps to itself, with any program), exit
# codes, and that no rank stays when the launcher gets SIGTERM, or when what has started the ranks is killed (what the launcher
# makes of that is its own).
check_launched() {
  local name=$1 directory=$2
  shift 2
  check "$name: standard input" 0 "^rank 2 of 3: 10000 bytes, sum d6a30d3d" \
    bash -c "yes heddle | head -c 10000 | $* -n 3 $programs/launched stdin 10000"
  check "$name: an exit code" 5 "" "$@" -n 3 "$programs/launched" exit 1 5
  check_ended "$name: SIGTERM" "$directory" TERM "$@"
  check_ended "$name: the parent of the ranks is killed" "$directory" KILL "$@"
}

# check_secret <name> <directory> <launcher...>: while a job runs, its secret is on no command line and in no file that others may
# read, of the launcher's in the directory (where TMPDIR points) or in /dev/shm. Needs root, to be somebody else.
check_secret() {
  local name=$1 directory=$2 held=$2/held launcher try
  shift 2
  chmod 755 "$directory" # what is in it is the launcher's to guard
  # By a pipe, for grep has a command line, too.
  # shellcheck disable=SC2016 # for the shell of the other user
  local look='secret() { printf "%s\n" "$SECRET"; }
    cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" "\n" | grep -F -f <(secret)
    grep -rlsaF -f <(secret) "$1" /dev/shm'
  seen() { SECRET=$(cat "$held.0") setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$look" bash "$directory" || true; }
  TMPDIR=$directory "$@" -n 2 "$probe" hold "$held" >"$directory/out" 2>&1 </dev/null &
  launcher=$!
  for ((try = 0; try < 300; try++)); do
    if [ -s "$held.0" ] && [ -s "$held.1" ]; then break; fi
    sleep 0.1
  done
  check "$name: the ranks have one secret" 0 "^[0-9a-f]{64} 1$" bash -c "echo \$(sort -u '$held.0' '$held.1') \$(sort -u '$held.0' '$held.1' | wc -l)"
  check "$name: nobody else sees it" 0 "^\[\]$" echo "[$(seen)]"
  (umask 022 && cp --no-preserve=mode "$held.0" "$directory/planted")
  check "$name: and would, if it were to be seen" 0 "/planted\]$" echo "[$(seen)]"
  touch "$held.go"
  wait "$launcher" || true
  rm -f "$held".* "$directory/planted"
}

check_ended() {
  local name=$1 out=$2/out killed=$2/killed signal=$3 launcher to ranks try code=0
  shift 3
  : >"$out" # here, for the launcher in the background may be late, and what is in it is that of the check before
  "$@" -n 3 "$programs/launched" wait >>"$out" 2>&1 </dev/null &
  launcher=$!
  pids() { sed -n 's/.*rank [0-9]* waits: //p' "$out"; }
  for ((try = 0; try < 300 && $(pids | wc -l) < 3; try++)); do sleep 0.1; done
  check "$name: all ranks run" 0 "rank 2 waits: " cat "$out"
  to=$launcher
  if [ "$signal" = KILL ]; then to=$(ps -o ppid= -p "$(pids | head -n 1)"); fi
  read -r -a ranks < <(pids | xargs)
  # shellcheck disable=SC2086 # one process, behind blanks
  kill "-$signal" $to
  check "$name: the ranks end" 0 "" bash -c 'wait_for "$@"' wait_for "${ranks[@]}"
  kill -KILL "${ranks[@]}" 2>"$killed" || true
  if [ "$signal" = TERM ]; then check "$name: the launcher ends" 0 "" bash -c 'wait_for "$@"' wait_for "$launcher"; fi
  kill -KILL "$launcher" 2>"$killed" || true
  wait "$launcher" || code=$?
  if [ "$signal" = TERM ]; then check "$name: its exit code" nonzero "" bash -c "exit $code"; fi
}

# Until these processes have ended, 30 s at most. (tail heeds one --pid alone.)
wait_for() {
  local pid
  for pid in "$@"; do timeout 30 tail -f /dev/null "--pid=$pid" || return; done
}
export -f wait_for

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
