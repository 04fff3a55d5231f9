# SPDX-License-Identifier: Apache-2.0
# Sourced by every scenario of this folder: a board's daemon without a collector, programs run with
# and without the agent, and three verdicts.
#
#   exit 0   all that was run holds                                    ("ok")
#   exit 1   something does not                                        ("FAILED: ...")
#   exit 77  nothing of it can be run on this machine                  ("not run: WHY")
#
# A part that cannot be run prints "without PART: WHY" and the rest continues. TORTURE_LONG=1
# selects the long form. The common oracle is `same`: exit status, stdout and stderr as without the
# agent.
#
# TORTURE_HALF selects one of the other halves: `user`, all of it as an ordinary user; `refused`,
# where the kernel refuses perf events (perf_event_paranoid 3); `user-refused`, both.
. "$(dirname "$0")/../e2e/ordinary_user.sh"
half=${TORTURE_HALF:-}
is_refused() { [[ $half == *refused ]]; }
if [[ $half == user* && -z ${FLEETPROF_AS_USER:-} ]]; then
  [ "$(id -u)" = 0 ] || { echo "not run: only root can become another user, and this one is ordinary"; exit 77; }
  again_as_ordinary "$@"
  exit
fi
if is_refused && [ -z "${TORTURE_BELOW:-}" ]; then TORTURE_BELOW=1 exec "$FLEETPROF_TARGETS/refuse_perf" "$0" "$@"; fi
. "$(dirname "$0")/../e2e/lib.sh"
torture_sources=$(cd "$(dirname "$0")" && pwd)/targets
torture=${FLEETPROF_TORTURE:-${FLEETPROF_TARGETS%/targets}/torture/targets}
NOWHERE=127.0.0.1:9 # no collector is needed: batches stay in the spool
HZ=997

is_long() { [ -n "${TORTURE_LONG:-}" ]; }
pick() { if is_long; then echo "$2"; else echo "$1"; fi; } # pick SHORT LONG
not_run() {
  echo "not run: $*"
  exit 77
}

# unaffected WHAT ALONE BESIDE MOST: 99 % of WHAT within BESIDE ms, and within ALONE without the
# load. In the long form BESIDE must be less than twice ALONE, or less than FLOOR_MS if that is
# more: the usual cost of a disk and two cores. A short form runs beside other tests: BESIDE must be
# less than MOST ms; more is clearly affected.
FLOOR_MS=100
unaffected() {
  local most=$4
  ! is_long || most=$(awk -v a="$2" -v floor=$FLOOR_MS 'BEGIN { print (2 * a > floor ? 2 * a : floor) }')
  awk -v got="$3" -v most="$most" 'BEGIN { exit !(got < most) }' || fail "$1: 99 % within $3 ms, $2 ms alone: not below $most ms"
}

# The samplers of this build, by their names for `run`.
samplers=(perf timer)
[ -z "${ITIMER:-}" ] || samplers+=(itimer) # on request: it survives exec and starts 20 ms late, by design
! is_refused || samplers=(auto) # this falls back to the timer; the other half tests the others

# board NAME: starts a daemon without a collector, and sets B.
board() {
  B=$W/board-$1
  fleetprofd --state "$B" --collector $NOWHERE "${@:2}" || fail "the daemon does not start"
}
# The same for an ordinary user.
as_user() { as_ordinary env "HOME=$W/user" "TMPDIR=$W/user" "$@"; }
user_board() {
  chmod 755 "$W"
  mkdir -p "$W/user" && chown "$ordinary" "$W/user"
  B=$W/user/board-$1
  as_user fleetprofd --state "$B" --collector $NOWHERE "${@:2}" || fail "the user's daemon does not start"
  started+=("$(cat "$B/fleetprofd.pid")")
}

# sampled SAMPLER COMMAND...: runs it under the agent and returns its exit status.
sampled() { fleetprof run --state "$B" --flush-timeout 0s --sampler "$1" --hz $HZ -- "${@:2}"; }
# The part of the daemon's status that the expression (d) names.
asked() {
  local caller=()
  [ "${B#"$W/user"}" = "$B" ] || caller=(as_user)
  "${caller[@]}" fleetprof status --state "$B" --format json >"$W/status" 2>&1 || { cat "$W/status" >&2 && return 1; }
  json "$1" <"$W/status"
}
produced() { asked "d['loss']['produced']"; }
# Prints the losses by reason; nothing if there are none.
lost() { asked "' '.join(f'{k}={v}' for k, v in d['loss']['dropped'].items() if v)"; }
# Each produced record is in exactly one place.
books_are_exact() {
  [ "$(asked "d['loss']['produced'] == d['loss']['shipped'] + d['loss']['open'] + sum(d['loss']['dropped'].values())")" = yes ]
}

# same COMMAND...: OK under every sampler of $samplers, and sampled at all when SAMPLES is set.
same() {
  local plain status sampler before
  { "$@" >"$W/plain.out" 2>"$W/plain.err" </dev/null; } 2>/dev/null # the shell's message about a crash
  plain=$?
  [ $plain != 127 ] || fail "$*: $(head -n 1 "$W/plain.err")"
  for sampler in "${samplers[@]}"; do
    before=$(produced)
    sampled "$sampler" "$@" >"$W/run.out" 2>"$W/run.err" </dev/null
    status=$?
    [ $status = $plain ] || fail "$sampler: $*: ended with $status, without us with $plain: $(tail -n 3 "$W/run.out" "$W/run.err")"
    cmp -s "$W/plain.out" "$W/run.out" || fail "$sampler: $*: stdout differs: $(diff "$W/plain.out" "$W/run.out" | head -n 5)"
    cmp -s "$W/plain.err" "$W/run.err" || fail "$sampler: $*: stderr differs: $(diff "$W/plain.err" "$W/run.err" | head -n 5)"
    [ -z "${SAMPLES:-}" ] || at_least "$SAMPLES" "$before" || fail "$sampler: $*: $(($(produced) - before)) samples, not $SAMPLES"
  done
}
at_least() { until_true 5 has_produced $(($1 + $2)); } # at_least SAMPLES BEFORE
has_produced() { [ "$(produced)" -ge "$1" ]; }

# holds COMMAND...: as `same`, for a program that checks itself: status 0 and nothing on stderr,
# without and with the agent; its output may contain numbers.
holds() {
  local sampler
  holds_alone "$@"
  for sampler in "${samplers[@]}"; do
    holds_under "$sampler" "$@"
  done
}
# outlasts PROGRAM SECONDS ARGUMENT...: a second of it without the agent, SECONDS under each
# sampler.
outlasts() {
  local sampler
  holds_alone "$1" 1 "${@:3}"
  for sampler in "${samplers[@]}"; do holds_under "$sampler" "$@"; done
}
holds_alone() {
  "$@" >"$W/plain.out" 2>"$W/plain.err" </dev/null || fail "without us: $*: ended with $?: $(tail -n 3 "$W/plain.out" "$W/plain.err")"
}
holds_under() {
  local sampler=$1 before status
  shift
  before=$(produced)
  sampled "$sampler" "$@" >"$W/run.out" 2>"$W/run.err" </dev/null
  status=$?
  [ $status = 0 ] || fail "$sampler: $*: ended with $status: $(tail -n 5 "$W/run.out" "$W/run.err")"
  [ ! -s "$W/run.err" ] || fail "$sampler: $*: stderr: $(head -c 300 "$W/run.err")"
  [ -z "${SAMPLES:-}" ] || at_least "$SAMPLES" "$before" || fail "$sampler: $*: $(($(produced) - before)) samples, not $SAMPLES"
  say "$sampler: $(tail -n 1 "$W/run.out")"
}

# recorded SAMPLER COMMAND...: runs it into a file, without a board, and returns its exit status.
# Its table is in $W/table.json; `told` prints the milliseconds of the functions selected by an
# expression (f).
recorded() {
  local status
  rm -f "${to:-$W}/run.fp"
  ${as:-} fleetprof run --output "${to:-$W}/run.fp" --sampler "$1" --hz $HZ -- "${@:2}"
  status=$?
  ${as:-} fleetprof report "${to:-$W}/run.fp" --format json >"$W/table.json" 2>"$W/report.err" || fail "$1: ${*:2}: no report: $(cat "$W/report.err")"
  return $status
}
told() { json "round(sum(f['self'] for f in d['functions'] if $1) / 1e6)" <"$W/table.json"; }
table() { json "', '.join('%s %s %.1f ms' % (f['name'], f['module'], f['self'] / 1e6) for f in d['functions'][:${1:-6}])" <"$W/table.json"; }

# The number of user-space timers of PID, from the kernel; 0 if it has ended.
timers_of() { grep -cs ^ID "/proc/$1/timers" || [ -r "/proc/$1/timers" ] || echo 0; }

# compile OUTPUT COMPILER ARGUMENT...: false, with a line, if that compiler is not installed.
compile() {
  local output=$1
  shift
  command -v "$1" >/dev/null || { without "$(basename "$output")" "$1 is not installed"; return 1; }
  "$@" -o "$output" 2>"$W/compile.log" || { without "$(basename "$output")" "$1 cannot build it: $(head -n 1 "$W/compile.log")"; return 1; }
}
