#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole path without privilege: collector, enrolment, daemon, both samplers, answer.
. "$(dirname "$0")/ordinary_user.sh"
if [ "$(id -u)" = 0 ]; then again_as_ordinary; exit; fi
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
hz=99
for sampler in perf timer; do
  hz=$((hz + 100))
  run --service "user-$sampler" --sampler $sampler --hz $hz -- "$targets/truth" 4 >"$W/truth" || fail "$sampler: ended with $?"
  # Relative to samples in user mode: the kernel's part grows with other load.
  named=$(profile "{service=\"user-$sampler\"}" | json "(lambda of: sum(of.get(name, 0) for name in ('alpha_sixty', 'beta_thirty', 'gamma_ten')) \
    / sum(of[name] for name in of if name not in ('[kernel]', '[unsampled]')))({f['name']: f['self'] for f in d['functions']})")
  /usr/bin/python3 -c "import sys; sys.exit($named < .96)" || fail "$sampler: only $named in the three functions"
  [ "$(api boards | json "d['boards'][0]['sampler'] == '$sampler' and d['boards'][0]['achieved_hz'] > 50")" = yes ] \
    || fail "$sampler: the board does not say it: $(api boards)"
  # A run of four seconds ends before the next ping: its batch carries the requested rate, the cost
  # of a sample, and the total cost, which takes the daemon two measurements of a second each.
  [ "$(api boards | json "(lambda b: b['asked_hz'] == $hz and b['rate_reason'] == 'asked' and b['cost']['sample_ns'] > 0 and (b['cost']['added_cpu'] or 0) > 0)(d['boards'][0])")" = yes ] \
    || fail "$sampler: asked for $hz: $(api boards)"
  say "$sampler: uid $(id -u), perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid): $named of the user weight in the three functions"
done

# A run has the same name as its samples, under any name of its file.
ln -s "$targets/truth" "$W/another-name"
run --sampler timer --hz 199 -- "$W/another-name" 0.5 >/dev/null || fail "another-name: ended with $?"
[ "$(profile '{service="another-name"}' | json "d['samples'] > 0")" = yes ] || fail "no samples of another-name: $(api labels/service)"
[ "$(status --format json | json "d['notes'][-1]['service']")" = another-name ] || fail "status calls its run: $(status --format json | json "d['notes']")"

# If a running daemon has another collector, a message names the one used.
fleetprof run -v --state "$B" --collector 127.0.0.1:9 -- true 2>"$W/err"
grep -q "^fleetprof: --collector 127.0.0.1:9: a daemon runs already, for 127.0.0.1:$A: that one is used" "$W/err" || fail "another collector: $(cat "$W/err")"
run -v -- true 2>"$W/err"
! grep -q "runs already" "$W/err" || fail "the same collector: $(cat "$W/err")"

# A wait for a hung collector shows progress; a collector that is down is named.
kill -STOP "$COLLECTOR"
run -v --flush-timeout 3s --service hung -- "$targets/truth" 0.3 >/dev/null 2>"$W/err" || fail "a hanging collector: ended with $?"
kill -CONT "$COLLECTOR"
grep -q "^fleetprof: waiting for the collector to store the samples (--flush-timeout)" "$W/err" || fail "waited in silence: $(cat "$W/err")"
grep -q "kept in the spool: 127.0.0.1:$A has not answered in time (--flush-timeout)" "$W/err" || fail "a hanging collector: no reason: $(cat "$W/err")"
stop_collector
is_refused() { status | grep -q "Connection refused"; }
until_true 60 is_refused || fail "the daemon does not see that the collector is gone: $(status)"
run -v --service gone -- "$targets/truth" 0.3 >/dev/null 2>"$W/err" || fail "no collector: ended with $?"
grep -q "kept in the spool: 127.0.0.1:$A: Connection refused" "$W/err" || fail "a collector that is gone has no name: $(cat "$W/err")"
[ "$(status --format json | json "0 < d['spool']['bytes'] and d['cost']['bytes_day'] >= d['spool']['bytes'] * .5")" = yes ] || fail "what is spooled is not in the bytes of the day: $(status)"

# Starting a daemon where 'run' has started one gives an error with the remedy.
fleetprofd --state "$B" 2>"$W/err" && fail "a second daemon beside that of run"
grep -q "another daemon (pid $(cat "$B/fleetprofd.pid")) runs here, which 'fleetprof run' started: end it by 'kill [0-9]*'" "$W/err" || fail "a second daemon: $(cat "$W/err")"

# A state has one daemon, by either of its two names: the default place, and --state.
export XDG_STATE_HOME=$W/home XDG_RUNTIME_DIR=$W/runtime
mkdir -m 700 "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
fleetprofd --collector "127.0.0.1:$A" || fail "no daemon in the default places"
pid=$(cat "$XDG_RUNTIME_DIR/fleetprof/fleetprofd.pid")
started+=("$pid")
fleetprofd --state "$XDG_STATE_HOME/fleetprof" 2>"$W/err" && fail "two daemons have one state"
grep -q "^fleetprofd: $XDG_STATE_HOME/fleetprof: another daemon (pid $pid) runs here: 'fleetprof status' says what it does; end it first (kill $pid," "$W/err" || fail "two daemons: $(cat "$W/err")"
# Naming the default place selects the same daemon as naming none.
fleetprof run -v --state "$XDG_STATE_HOME/fleetprof/" -- true 2>"$W/err" || fail "run with the default state ends with $?"
! grep -q 'not profiled' "$W/err" || fail "run with the default state: $(cat "$W/err")"
fleetprof status --state "$XDG_STATE_HOME/fleetprof" --format json | grep -q "\"pid\":$pid[,}]" || fail "status with the default state asks another daemon"
fleetprof ctl pause --state "$XDG_STATE_HOME/fleetprof" >"$W/out" 2>&1
! grep -q 'no daemon answers' "$W/out" || fail "ctl with the default state: $(cat "$W/out")"
mkdir -m 777 "$W/open" && touch "$W/open/file" && chmod 777 "$W/open"
fleetprofd --state "$W/open" 2>"$W/err" && fail "a state that everybody may write was taken"
grep -q "^fleetprofd: $W/open: everybody may write there (chmod o-w)" "$W/err" || fail "an open state: $(cat "$W/err")"
