#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --sampler itimer, one CPU clock for a whole process: shares within 3 points, the total within 1 %
# of the program's own CPU time at any rate that the tick allows, including forked children and
# programs of an exec chain. It can be paused and resumed. A program that uses SIGPROF, its timer or
# a limit of CPU time is not sampled and status reports that; auto never uses itimer.
. "$(dirname "$0")/lib.sh"
seconds=20
start_collector
enroll board1
target() { status --format json | json "[t['$2'] for t in d['targets'] if t['service'] == '$1'][0]"; }

check_truth() { # SERVICE FILE
  profile "{service=\"$1\"}" >"$W/$1.json" || fail "no answer for $1"
  truth_told "$1" "$W/$1.json" "$2" .03 .01 || fail "$1 is off"
}

for sampler in itimer itimer-virtual; do
  run --service "truth-$sampler" --sampler $sampler --hz 199 -- "$targets/truth" "$seconds" >"$W/$sampler.truth" \
    || fail "the program under $sampler ended with $?"
  check_truth "truth-$sampler" "$W/$sampler.truth"
done
for hz in 99 1000; do
  run --service "rate-$hz" --sampler itimer --hz $hz -- "$targets/truth" 1 >"$W/rate.truth" || fail "at $hz Hz"
  profile "{service=\"rate-$hz\"}" | json "'  asked $hz Hz, got %d' % d['samples']"
done

run --service forks --sampler itimer --hz 499 -- "$targets/forks" 20 >"$W/out" || fail "forks: $(cat "$W/out")"
run --service children --sampler itimer --hz 199 -- /usr/bin/python3 -c "
import os, time
for _ in range(4):
    if os.fork() == 0:
        while time.process_time() < .5: pass
        os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break" || fail "a program with children ended with $?"
profile '{service="children"}' | json "sum(f['self'] for f in d['functions'] if f['name'] != '[unsampled]') / d['total'] > .7" | grep -qx yes \
  || fail "forked children are not sampled: $(profile '{service="children"}' | head -c 600)"
run --service chain --sampler itimer --hz 999 -- /bin/sh -c "for i in 1 2 3 4 5 6; do /bin/bash -c 'exec $targets/truth .2' || exit 9; done" >/dev/null \
  || fail "a chain of exec ended with $?"

# Paused and resumed; no sleeping thread is woken.
run --service switched --sampler itimer --hz 199 -- "$targets/switched" 60 "$W/end" >"$W/switched.out" &
program=$!
samples_come() { [ "$(target switched samples 2>/dev/null)" -gt "${floor:-10}" ] 2>/dev/null; }
until_true 5 samples_come || fail "no samples before the pause"
fleetprof ctl pause --state "$B" >/dev/null || fail "pause"
sleep 1.5
[ "$(target switched sampler) $(target switched state)" = "itimer paused" ] || fail "status: $(target switched sampler) $(target switched state)"
floor=$(target switched samples)
sleep 1
[ "$(target switched samples)" = "$floor" ] || fail "samples while paused"
fleetprof ctl resume --state "$B" >/dev/null || fail "resume"
floor=$((floor + 20))
until_true 10 samples_come || fail "no samples after resume"
fleetprof ctl rate 50 --state "$B" >/dev/null || fail "rate"
floor=$((floor + 20))
until_true 10 samples_come || fail "no samples after the rate was changed"
unsampled=$(target switched unsampled)
[ "$unsampled" = "{}" ] || fail "threads are called unsampled: $unsampled"
touch "$W/end"
wait $program || fail "the program ended with $?"
read -r _ interrupted <"$W/switched.out"
[ "$interrupted" = 0 ] || fail "$interrupted waits of sleeping threads were cut short"

# Programs that use the signal, the timer or a limit themselves.
cat >"$W/own.py" <<'P'
import os, resource, signal, sys, time
got = 0
def on_signal(number, frame):
    global got
    got += 1
mode = sys.argv[1]
if mode == "late":
    signal.signal(signal.SIGPROF, on_signal)
    signal.setitimer(signal.ITIMER_PROF, 0.05, 0.05)
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
start = time.process_time()
spin(1.5)
if mode == "late":
    used = time.process_time() - start
    left = signal.getitimer(signal.ITIMER_PROF)
    signal.setitimer(signal.ITIMER_PROF, 0) # Python gives the signal back before it ends
    print("late", abs(left[1] - 0.05) < 0.001 and abs(got - used / 0.05) < used / 0.05 * .3, got, left)
else:
    print(mode, signal.getsignal(signal.SIGPROF) == signal.SIG_IGN, "%.1f" % signal.getitimer(signal.ITIMER_PROF)[0])
P
run --service late --sampler itimer -- /usr/bin/python3 "$W/own.py" late >"$W/out" || fail "a program with a SIGPROF of its own ended with $?"
grep -q '^late True' "$W/out" || fail "its own SIGPROF: $(cat "$W/out")"
run --service ignores --sampler itimer -- /usr/bin/python3 -c "
import os, signal
signal.setitimer(signal.ITIMER_PROF, 0)
signal.signal(signal.SIGPROF, signal.SIG_IGN)
os.execv('/usr/bin/python3', ['python3', '$W/own.py', 'ignored'])" >"$W/out" &
program=$!
is_told() { target ignores why 2>/dev/null | grep -q 'ignores or handles'; }
until_true 5 is_told || fail "why: $(target ignores why)"
wait $program || fail "a program that ignores SIGPROF ended with $?"
grep -q '^ignored True 0.0' "$W/out" || fail "an ignored SIGPROF: $(cat "$W/out")"
run --service limited --sampler itimer -- /usr/bin/python3 -c "
import os, signal
signal.setitimer(signal.ITIMER_PROF, 50)
os.execv('/usr/bin/python3', ['python3', '$W/own.py', 'limit'])" >"$W/out" &
program=$!
is_told() { target limited why 2>/dev/null | grep -q 'interval timer of this kind already'; }
until_true 5 is_told || fail "why: $(target limited why)"
wait $program || fail "a program with a limit of CPU time ended with $?"
grep -qE '^limit False 4[789]' "$W/out" || fail "a limit of CPU time: $(cat "$W/out")"

# A name is needed: auto falls to the timer.
run --service auto --hz 199 -- "$targets/refuse_perf" "$targets/truth" 1 >/dev/null 2>&1
chosen=$(status --format json | json "' '.join(n['sampler'] for n in d['notes'] if n['service'] == 'auto')")
[ "$chosen" = timer ] || [ "$chosen" = perf ] || fail "auto took: $chosen"
until_true 10 books_are_closed board1 || fail "books $(books board1)"

# An ordinary user, with nothing but a directory.
mkdir -p "$W/home" && chmod 755 "$W" && chown "$ordinary:$ordinary" "$W/home"
if [ "$(id -u)" = 0 ]; then
  as_ordinary env HOME="$W/home" fleetprof run --output "$W/home/nobody.fp" --sampler itimer --hz 199 --service nobody -- "$targets/truth" 4 >"$W/nobody.truth" \
    || fail "as uid $ordinary: $?"
  as_ordinary env HOME="$W/home" fleetprof report "$W/home/nobody.fp" >"$W/nobody.report" || fail "report"
  grep -q alpha_sixty "$W/nobody.report" || fail "report of uid $ordinary: $(head -n 5 "$W/nobody.report")"
fi
