#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# By perf a new rate applies to existing threads and children. None of their samples must be thinned
# out once they have separate events, the CPU time stays right within 1 %, a kill -9 of the worker
# restarts the program's own events, and the program is not disturbed. If there are more threads
# than events, the answer is marked, and status gives the reason. As root and as an ordinary user.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
target() { status --format json 2>/dev/null | json "[t['$1'] for t in d['targets'] if t['service'] == 'crew'][0]" 2>/dev/null; }
more_than() { [ "$(target samples 2>/dev/null)" -gt "$1" ] 2>/dev/null; }
# The rings', the program's own, and the two that report ends always exist.
of_threads() { echo $(($(ls -l "/proc/$(worker)/fd" | grep -c 'perf_event') - 2 * $(nproc) - 2)); }
have_own() { [ "$(of_threads)" -gt 0 ]; }

# crew SECONDS_OF_EACH: a shell whose child has three threads, at 2000 Hz.
crew() { run --service crew --sampler perf --hz 2000 -- sh -c "'$targets/crowd' threads 3 $1; true" >"$W/crew" 2>"$W/crew.err" & program=$!; }

stolen_before=$(stolen) # the clock of an event includes stolen time; a program's own time does not
crew 3000
until_true 30 more_than 50 || fail "no sample: $(cat "$W/crew.err")"
fleetprof ctl rate 250 --state "$B" >/dev/null || fail "the rate is refused"
until_true 60 have_own || fail "no events of the threads' own"
thinned=$(target thinned) samples=$(target samples)
until_true 60 more_than $((samples + 200)) || fail "no samples any more"
more=$(($(target thinned) - thinned))
say "after the change $(($(target samples) - samples)) samples, $more thinned out, $(of_threads) events"
[ $more -le 20 ] || fail "threads go on at the old rate: $more samples were thinned out"
wait $program || fail "the program ended with $?"
[ ! -s "$W/crew.err" ] || fail "the program noticed: $(cat "$W/crew.err")"
spent=$(cat "$W/crew")
total=$(profile '{service="crew"}' | json "d['total'] / 1e9")
spare=$(stolen_since)
say "spent $spent s, answered $total s, $spare s stolen"
awk -v a="$spent" -v b="$total" -v spare="$spare" 'BEGIN { exit !(b < 1.01 * a + spare && b > .99 * a) }' || fail "the total is off"

crew 1500
until_true 60 more_than 1000 || fail "no samples of the second"
until_true 60 have_own || fail "no events of its threads' own"
old=$(worker)
kill -9 "$old"
until_true 30 eval '[ -n "$(worker)" ] && [ "$(worker)" != "$old" ]' || fail "no new worker"
until_true 60 more_than 200 || fail "no samples by the new worker"
wait $program || fail "the program ended with $?"

# A daemon of 128 descriptors gives no more than 32 to events of threads.
enroll board2
(ulimit -n 128 && exec fleetprofd --state "$B" --collector "127.0.0.1:$A") || fail "no daemon with few descriptors"
run --service crowd --sampler perf --hz 2000 -- "$targets/crowd" threads 40 3000 >"$W/crowd" &
program=$!
keeps() { status | grep -q "its threads keep the rate that they began with: too many threads"; }
until_true 60 keeps || fail "status does not say that nothing reaches the threads: $(status)"
sleep 2
kill "$(status --format json | json "[t['pid'] for t in d['targets'] if t['service'] == 'crowd'][0]")"
wait $program
is_marked() { [ "$(profile '{service="crowd"}' | json "[m['mark'] for m in d['marks']]")" = "['stale_rate']" ]; }
until_true 10 is_marked || fail "no mark: $(profile '{service="crowd"}' | head -c 500)"
[ "$(profile '{service="crew"}' | json "d['marks']")" = "[]" ] || fail "threads that were reached are marked"
