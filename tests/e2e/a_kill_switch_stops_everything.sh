#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kill-switch file: within ten seconds running programs have no timer and no perf event counts;
# new programs are refused with the reason. When it is deleted new programs are sampled again, and
# those by perf continue. FLEETPROF=0 does the same for one program.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
export FLEETPROF_SOCKET=$B/fleetprofd.sock
target() { status --format json | json "[t['$1'] for t in d['targets'] if t['service'] == '$2'][0]"; }
timers() { cat "/proc/$timer_pid/timers" | grep -c '^ID:'; }
has_no_timer() { [ "$(timers)" = 0 ]; }
has_target() { [ -n "$(target pid "$1" 2>/dev/null)" ]; }
grows() { local a; a=$(target samples "$1"); sleep 0.7; [ "$(target samples "$1")" -gt "$a" ]; }
stands() { ! grows "$1"; }

run --service by-perf --sampler perf --hz 199 -- "$targets/switched" 90 "$W/end" >"$W/perf.out" &
perf_run=$!
run --service by-timer --sampler timer --hz 199 -- "$targets/switched" 90 "$W/end" >"$W/timer.out" &
timer_run=$!
until_true 10 has_target by-timer || fail "by-timer is no target"
until_true 10 has_target by-perf || fail "by-perf is no target"
timer_pid=$(target pid by-timer)
until_true 5 grows by-timer || fail "by-timer is not sampled"
until_true 5 grows by-perf || fail "by-perf is not sampled"
touch "$B/disable"
until_true 10 has_no_timer || fail "$(timers) timers are left after ten seconds"
until_true 5 stands by-perf || fail "perf samples come while the kill switch is there"
[ "$(target state by-timer) $(target state by-perf)" = "off off" ] || fail "status does not say off"
status | grep -q "disabled  by $B/disable" || fail "status does not name the file"
fleetprof doctor --state "$B" | grep -q "$B/disable turns all sampling off" || fail "doctor does not name the file"
fleetprof ctl resume --state "$B" 2>/dev/null && fail "ctl resume goes over the kill switch"
LD_PRELOAD=$agent "$targets/truth" 0.3 >/dev/null || fail "a program that was refused ended with $?"
run --verbose --sampler auto -- "$targets/truth" 0.3 >/dev/null 2>"$W/refused" || fail "run ended with $?"
grep -q 'kill-switch' "$W/refused" || fail "run does not say why: $(cat "$W/refused")"
[ "$(status --format json | json "len(d['targets'])")" = 2 ] || fail "something new was taken on: $(status)"
rm "$B/disable"
until_true 8 grows by-perf || fail "by-perf does not go on"
sleep 1
has_no_timer || fail "OFF was not for good"
# Beside others a timer ticks at its program's own switches: 45 samples were seen of 199.
run --service later --hz 199 --sampler timer -- "$targets/truth" 1 >/dev/null || fail "later ended with $?"
[ "$(profile '{service="later"}' | json "d['samples'] > 10")" = yes ] || fail "a new program is not sampled again: $(profile '{service="later"}' | head -c 300)"
touch "$W/end"
wait $perf_run || fail "by-perf ended with $?"
wait $timer_run || fail "by-timer ended with $?"
until_true 10 books_are_closed board1 || fail "books $(books board1)"
for sampler in perf timer; do
  read -r spent interrupted <"$W/$sampler.out"
  [ "$interrupted" = 0 ] || fail "$sampler: $interrupted waits were cut short"
  total=$(profile "{service=\"by-$sampler\"}" | json "d['total'] / 1e9")
  is_all_of "$total" "$spent" .01 || fail "$sampler: total $total s of $spent s"
  say "$sampler: $total s of $spent s"
done
FLEETPROF=0 run --verbose --service silent -- "$targets/truth" 0.3 >/dev/null 2>"$W/zero" || fail "FLEETPROF=0: ended with $?"
grep -q 'FLEETPROF=0' "$W/zero" || fail "run does not say that FLEETPROF=0 keeps it off"
[ "$(api labels/service | json "'silent' in d['data']")" = no ] || fail "FLEETPROF=0 was sampled"

# That of the state that a daemon would use holds without a daemon, too.
mkdir "$W/own" && touch "$W/own/disable"
fleetprof run --verbose --state "$W/own" --output "$W/own.fp" -- true 2>"$W/err" || fail "under its own switch it ended with $?"
grep -q "not profiled: the kill-switch file $W/own/disable is there" "$W/err" && [ ! -e "$W/own.fp" ] || fail "not said: $(cat "$W/err")"

# The machine's own switch: run --output leaves an earlier profile as it is.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
  fleetprof run --output "$W/kept.fp" -- true || fail "run --output ended with $?"
  before=$(cksum <"$W/kept.fp")
  unshare -m bash -c 'mount -t tmpfs none /etc && mkdir /etc/fleetprof && touch /etc/fleetprof/disable && fleetprof run --verbose --output "$1" -- true' - "$W/kept.fp" 2>"$W/err" || fail "under the switch it ended with $?"
  grep -q "not profiled: the kill-switch file /etc/fleetprof/disable is there" "$W/err" || fail "not said: $(cat "$W/err")"
  [ "$before" = "$(cksum <"$W/kept.fp")" ] && [ ! -e "$W/kept.fp.old" ] || fail "an earlier profile was touched"
else
  without "the machine's kill-switch file" "only root can show it to a single command"
fi
