#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# FLEETPROF_DORMANT=1: the program is registered with the daemon and has no timer until `ctl resume`
# wakes it; its sleeping threads are not disturbed. The same for a program that daemonises before it
# is woken, and for any program if the daemon was started with --dormant.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
export W
start_collector
enroll board1
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
export FLEETPROF_SOCKET=$B/fleetprofd.sock FLEETPROF_HZ=199 FLEETPROF_DORMANT=1
target() { status --format json | json "[t['$1'] for t in d['targets'] if t['service'] == 'switched'][0]"; }
timers() { cat "/proc/$pid/timers" | grep -c '^ID:'; }
timers_are() { [ "$(timers)" = "$1" ]; }
has_target() { target pid >/dev/null 2>&1; }
samples_come() { [ "$(target samples)" -gt 20 ]; }
# start_dormant WHO END: a registered program without a timer and samples, until the file END
# exists.
start_dormant() {
  LD_PRELOAD=$agent "$targets/switched" 60 "$2" >"$W/out" &
  program=$!
  until_true 5 has_target || fail "$1: the program is unknown"
  pid=$(target pid)
  sleep 1.5
  timers_are 0 || fail "$1: it has $(timers) timers"
  [ "$(target state) $(target samples)" = "paused 0" ] || fail "$1: status: $(target state), $(target samples) samples"
}

start_dormant FLEETPROF_DORMANT "$W/end"
fleetprof ctl resume --state "$B" >/dev/null || fail "resume"
until_true 5 timers_are 5 || fail "$(timers) timers after resume, not 5"
until_true 5 samples_come || fail "no samples after resume"
touch "$W/end"
wait $program || fail "the program ended with $?"
read -r spent interrupted <"$W/out"
[ "$interrupted" = 0 ] || fail "$interrupted waits of sleeping threads were cut short"
until_true 10 eval '! has_target' || fail "the ended program is still a target"
until_true 10 books_are_closed board1 || fail "books $(books board1)"
say "woken after 1.5 s: $(profile '{service="switched"}' | json "d['total'] / 1e9") s of $spent s"
(unset FLEETPROF_HZ; LD_PRELOAD=$agent FLEETPROF_SERVICE=switched /usr/bin/python3 -c '
import os, time
if os.fork() > 0: os._exit(0)
os.setsid()
if os.fork() > 0: os._exit(0)
open(os.environ["W"] + "/daemon.pid", "w").write(str(os.getpid()))
until = time.monotonic() + 60
while time.monotonic() < until and not os.path.exists(os.environ["W"] + "/end-daemon"): pass
') 
until_true 5 test -s "$W/daemon.pid" || fail "the daemonised program does not run"
pid=$(cat "$W/daemon.pid")
started+=("$pid")
sleep 1
until_true 5 has_target || fail "a dormant program that daemonises is forgotten"
timers_are 0 || fail "it has $(timers) timers"
fleetprof ctl resume --state "$B" >/dev/null || fail "resume after daemonising"
until_true 5 timers_are 1 || fail "a daemonised program is not woken"
until_true 5 samples_come || fail "a daemonised program has no samples"
touch "$W/end-daemon"
until_true 5 is_gone "$pid" || fail "the daemonised program has not ended"

# The same by the daemon's own word: fleetprofd --dormant.
kill "$(cat "$B/fleetprofd.pid")"
until_true 10 is_gone "$(cat "$B/fleetprofd.pid" 2>/dev/null || echo 999999999)" || fail "the daemon does not stop"
fleetprofd --dormant --state "$B" --collector "127.0.0.1:$A" || fail "fleetprofd --dormant does not start"
unset FLEETPROF_DORMANT
start_dormant "fleetprofd --dormant" "$W/end-third"
fleetprof ctl resume --state "$B" >/dev/null || fail "resume under --dormant"
until_true 5 samples_come || fail "no samples after resume under --dormant"
touch "$W/end-third"
wait $program || fail "the program under --dormant ended with $?"
