#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A daemon that gets SIGTERM, or whose supervisor is killed, ends only when the working programs
# have deleted their timers, at any rate, including programs that use a hundredth of a CPU or were
# paused a moment before. All their samples until then are stored, with no loss. A sleeping program
# keeps its timer, and is not woken. The next daemon has no record of them, and run reports that.
# When all of a daemon is killed at once the timers stay, and the programs run on. A worker without
# a supervisor costs almost nothing until it ends.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
timers() { grep -c '^ID:' "/proc/$1/timers"; }
target() { status --format json | json "[t['$1'] for t in d['targets'] if t['service'] == '$2'][0]"; }
has_samples() { [ "$(target samples "$1" 2>/dev/null || echo 0)" -ge 50 ]; }
# begin NAME: runs a program by timer, into PID, until it has 50 samples.  (Its agent waits 200 ms for a busy daemon,
# then perf takes over: once more.)
begin() {
  for again in 1 2 3; do
    rm -f "$W/end-$1"
    begin_once "$1"
    [ "$(target sampler "$1")" = timer ] && break
    touch "$W/end-$1"
    wait $program
    until_true 10 has_no_target "$1" || fail "$1 does not go away"
  done
  PID=$(target pid "$1")
  [ "$(timers "$PID")" -gt 0 ] || fail "$1 has no timer: $(status)"
}
has_no_target() { [ -z "$(target pid "$1" 2>/dev/null)" ]; }
begin_once() {
  run --verbose --service "$1" --sampler timer --hz 199 --flush-timeout 2s -- "$targets/switched" 60 "$W/end-$1" >"$W/$1.out" 2>"$W/$1.err" &
  program=$!
  until_true 20 has_samples "$1" || fail "$1 is not sampled: $(cat "$W/$1.err")"
}
# ended NAME: PROGRAM ends as ever, and no wait of it was cut short.
ended() {
  local spent interrupted
  touch "$W/end-$1"
  wait $program || fail "$1 ended with $?"
  read -r spent interrupted <"$W/$1.out"
  [ "$interrupted" = 0 ] || fail "$1: $interrupted waits were cut short"
}

lone() { preloaded FLEETPROF_SAMPLER=timer FLEETPROF_HZ="$@"; } # lone HZ PROGRAM...
stop_daemon() {
  local daemon=$(cat "$B/fleetprofd.pid")
  kill "$daemon"
  until_true 10 is_gone "$daemon" || fail "the daemon has not ended after 10 s"
}
duty=$targets/../torture/targets/duty

begin stopped
lone 99 sleep 120
sleeper=$PRELOADED
workers=()
for how in "99 1" "99 1" "99 3" "99 3" "20 3" "1 3"; do # at 1 Hz a sample takes half a minute of the last one
  lone "${how% *}" "$duty" "${how#* }" 100.7 120
  workers+=($PRELOADED)
done
stop_daemon
[ "$(timers "$PID")" = 0 ] || fail "$(timers "$PID") timers are left by a daemon that was stopped"
for pid in "${workers[@]}"; do
  [ "$(timers $pid)" = 0 ] || fail "of ${workers[*]}, who work a little, $pid keeps its timer: $(tail -n 1 "$B/fleetprofd.log")"
done
has_timer $sleeper || fail "a program that sleeps was made to delete its timer"
grep -q "1 timers stay, of programs that had less CPU time than a sample takes" "$B/fleetprofd.log" ||
  fail "the log does not tell of the sleeper"
run -- true || fail "no new daemon"
lone 20 "$duty" 3 100.7 120 # a sample takes 1.7 s
fleetprof ctl pause --state "$B" >/dev/null || fail "no pause"
stop_daemon
[ "$(timers $PRELOADED)" = 0 ] || fail "a program that was paused as the daemon ended keeps its timer"
run -- true || fail "no new daemon"
until_true 20 books_are_closed board1 || fail "books $(books board1)"
read -r produced stored dropped pending < <(books board1)
[ "$dropped" = 0 ] && [ "$stored" -ge 50 ] || fail "produced $produced stored $stored dropped $dropped"
ended stopped
grep -q "its daemon ended before the program did" "$W/stopped.err" || fail "run does not tell: $(cat "$W/stopped.err")"

begin orphaned
lone 99 sleep 120 # a daemon that is alone stays a second
daemon=$(cat "$B/fleetprofd.pid") worker=$(worker)
# CPU time of the worker in milliseconds, into SPENT while it lives.
spent() { ! { read -r cpu _ <"/proc/$worker/schedstat"; } 2>/dev/null || SPENT=$((cpu / 1000000)); }
goes_on() { spent; is_gone "$worker"; }
spent
before=$SPENT
kill -9 "$daemon"
until_true 10 goes_on || fail "the worker has not ended 10 s after its keeper"
alone_ms=$((SPENT - before))
[ $alone_ms -le 100 ] || fail "without its keeper the worker used $alone_ms ms of CPU time until it went"
[ "$(timers "$PID")" = 0 ] || fail "$(timers "$PID") timers are left by a worker without a keeper"
ended orphaned

begin killed
kill -9 "$(worker)" "$(cat "$B/fleetprofd.pid")" # in this order: a worker that sees its keeper dead ends in order
until_true 10 is_gone "$(cat "$B/fleetprofd.pid")" || fail "the daemon lives on"
[ "$(timers "$PID")" -gt 0 ] || fail "a program has deleted its timer unasked"
ended killed
say "stored $stored of $produced; a worker without a keeper used $alone_ms ms; after a kill of all: $(cat "$W/killed.err" | tail -n 1)"
