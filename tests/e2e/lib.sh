# SPDX-License-Identifier: Apache-2.0
# Sourced by every end-to-end script: a collector and boards on loopback, in a temporary folder
# that goes away with the script.  FLEETPROF_PREFIX is the installed tree under test.
#
#   W  the temporary folder        A  the collector's --agents port     COLLECTOR  its pid
#   B  the last enrolled board     H  its --http port
set -u
. "$(dirname "${BASH_SOURCE[0]}")/ordinary_user.sh"
: "${FLEETPROF_PREFIX:?the installed tree to test (bin/fleetprof, lib/fleetprof/libfleetprof.so)}"
PATH=$FLEETPROF_PREFIX/bin:$PATH
agent=$FLEETPROF_PREFIX/lib/fleetprof/libfleetprof.so
targets=${FLEETPROF_TARGETS:-}
W=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-e2e.XXXXXX")
COLLECTOR=
started=()   # pids started by this script that must have ended at its end

fail() {
  echo "FAILED: $*"
  tail -n 5 "$W"/collector.log "$W"/board-*/fleetprofd.log 2>/dev/null
  head -n 40 "$W"/asan.* 2>/dev/null # the log path given to a sanitizer
  exit 1
}
say() { echo "  $*"; }
# Reports a part that cannot be run here; the rest continues. tests/run.sh shows these lines.
without() { echo "without $1: ${*:2}"; } # without PART WHY

port() {
  /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# until_true SECONDS COMMAND...: polls, every tenth of a second during the first second and then
# less often. Fails if COMMAND has not become true in SECONDS of an idle machine, which are four
# times as many here: the deadline only detects conditions that never become true.
until_true() {
  local slowest=4 # here: scripts export this function alone
  local left=$(($1 * slowest * 10)) tries=0 pause=1
  shift
  while [ $left -gt 0 ]; do
    "$@" && return 0
    sleep 0.$pause
    left=$((left - pause)) tries=$((tries + 1))
    [ $tries -lt 10 ] || pause=3
  done
  return 1
}

collector_is_ready() { curl -fs "http://127.0.0.1:$H/readyz" >/dev/null 2>&1; }

collector_up() {
  fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H" "$@" >>"$W/collector.log" 2>&1 &
  COLLECTOR=$!
  until_true 10 collector_is_ready || fail "the collector does not become ready"
}

start_collector() {
  A=$(port)
  H=$(port)
  collector_up "$@"
}

# Ends the collector with SIGNAL (default TERM) and waits for it.
stop_collector() {
  kill "-${1:-TERM}" "$COLLECTOR" 2>/dev/null
  wait "$COLLECTOR" 2>/dev/null
  COLLECTOR=
}

# enroll NAME: makes the board's state folder and sets B.
enroll() {
  local token
  B=$W/board-$1
  token=$(fleetprof-collector token --data "$W/data" --board "$1") || fail "token for $1"
  fleetprof enroll --collector "127.0.0.1:$A" --token "$token" --state "$B" >"$W/enroll.log" 2>&1 \
    || fail "enroll $1: $(tail -n 1 "$W/enroll.log")"
}

run() { fleetprof run --state "$B" --collector "127.0.0.1:$A" "$@"; }
status() { fleetprof status --state "$B" "$@"; }
has_timer() { [ "$(grep -c '^ID:' "/proc/$1/timers")" = 1 ]; }
# preloaded VARIABLE=VALUE... PROGRAM...: starts PROGRAM with the agent and these variables, sets
# PRELOADED, and waits for its timer. An agent waits 200 ms for its daemon and then stays inactive:
# with twelve busy processes on a board of two CPUs that happens once in 300 starts.
preloaded() {
  for again in 1 2 3; do
    env FLEETPROF_SOCKET="$B/fleetprofd.sock" LD_PRELOAD="$agent" "$@" >/dev/null &
    PRELOADED=$!
    started+=($PRELOADED)
    until_true 2 has_timer $PRELOADED && return
    kill $PRELOADED
  done
  fail "$* has no timer: $(tail -n 1 "$B/fleetprofd.log")"
}
worker() { pgrep -P "$(cat "$B/fleetprofd.pid")"; }

api() {
  local route=$1
  shift
  curl -fsG "http://127.0.0.1:$H/api/v1/$route" "$@"
}

# profile SELECTOR [MORE...]: the function table of the last ten minutes, or of $SINCE.
profile() {
  local match=$1
  shift
  api profile --data-urlencode "match=$match" -d "from=-${SINCE:-10m}" "$@"
}

# Waits for debug files, which arrive and are read asynchronously: true once the collector's files
# and the names in its answers have not changed for a second.
names_are_settled() {
  local names
  names=$(api debug && profile '{}' -d limit=100000 | json "sorted((f['name'], f['module'], f['file']) for f in d['functions'])")
  [ "$names" = "${NAMES_BEFORE:-}" ] && NAMES_UNCHANGED=$((NAMES_UNCHANGED + 1)) || NAMES_UNCHANGED=0
  NAMES_BEFORE=$names
  [ $NAMES_UNCHANGED -ge 7 ]
}

# share_of_user NAME...: the share of these functions in the sampled time of user code. Time of
# clocks ([kernel], [unsampled]) depends on other load as well: a short program's start takes more
# of it among others.
share_of_user() {
  json "(lambda of: sum(w for n, w in of if n in '$*'.split()) / max(1, sum(w for n, w in of)))([(f['name'], f['self']) for f in d['functions'] if f['name'] not in ('[kernel]', '[unsampled]')])"
}

# has_user_part LEAST: whether samples cover at least that share of all time, so that the program
# was sampled at all.
has_user_part() {
  json "sum(f['self'] for f in d['functions'] if f['name'] not in ('[kernel]', '[unsampled]')) >= $1 * d['total']"
}

truth_told() { /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/truth_told.py" "$@"; }

# json EXPRESSION: evaluates a Python expression with the JSON on stdin as d.
json() { /usr/bin/python3 -SE -c 'import json, sys
d = json.load(sys.stdin)
v = eval(sys.argv[1])
print(v if not isinstance(v, bool) else ("yes" if v else "no"))' "$1"; }

# books BOARD: prints "produced stored dropped pending" of one board.
books() {
  api loss | json "' '.join(str(x) for b in d['boards'] if b['board'] == '$1' for x in (b['produced'], b['stored'], sum(v for k, v in b['dropped'].items() if k != 'pending'), b['dropped'].get('pending', 0)))"
}
# lost_beside_full_rings BOARD: its lost samples except those of full rings, which a busy machine
# explains.
lost_beside_full_rings() {
  api loss | json "sum(v for b in d['boards'] if b['board'] == '$1' for k, v in b['dropped'].items() if k not in ('pending', 'ring_full'))"
}
books_are_closed() {
  local p s d pending
  read -r p s d pending < <(books "$1")
  [ "${p:-0}" -gt 0 ] && [ "$pending" = 0 ] && [ "$p" = $((s + d)) ]
}

# Seconds that the hypervisor took from the CPUs since boot. The clock of perf's events counts them,
# and so do samples of a whole board; a program's own CPU clock does not.
stolen() { awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { print $9 / hz }' /proc/stat; }
stolen_before=$(stolen) # a script may set it again before each program
stolen_since() { awk "BEGIN { print $(stolen) - ${1:-$stolen_before} }"; }
# is_all_of TOTAL SPENT PART [SPARE]: whether TOTAL seconds equal SPENT seconds, within PART of
# these and SPARE seconds. TOTAL may be higher by a quarter of the time stolen since stolen_before:
# of processes that no parent has waited for, and of a program's last moments.
is_all_of() {
  awk -v off="$(awk "BEGIN { print $1 - $2 }")" -v limit="$(awk "BEGIN { print $2 * $3 + ${4:-0} }")" -v stolen="$(stolen_since)" \
    'BEGIN { exit !(off >= -limit && off <= limit + stolen / 4) }'
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

finish() {
  local code=$? pid file late=()
  for file in "$W"/board-*/fleetprofd.pid; do
    [ -f "$file" ] && started+=("$(cat "$file")")
  done
  [ -n "$COLLECTOR" ] && started+=("$COLLECTOR")
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
  for pid in "${started[@]}"; do until_true 10 is_gone "$pid" || late+=("$pid"); done
  for pid in "${late[@]}"; do kill -9 "$pid" 2>/dev/null; done
  awk -v w="$W/" 'index($2, w) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r -n 1 umount -l
  rm -rf "$W"
  if [ ${#late[@]} -gt 0 ]; then
    echo "FAILED: ${late[*]} did not stop on TERM within 10 s"
    code=1
  fi
  [ $code = 0 ] && echo ok
  exit $code
}
trap finish EXIT
