#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `fleetprof run` in a program that is already sampled, by its preload or by another `run`. The
# inner program has a separate service and rate, and its CPU time counts only there. A timer
# requested there is replaced by perf, with a message.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
export FLEETPROF_SOCKET=$B/fleetprofd.sock

# Works, runs the command, works again; prints its CPU time including all children.
cat >"$W/outer.py" <<'P'
import resource, subprocess, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
burn(.4)
subprocess.run(["/bin/sh", "-c", sys.argv[1]], check=True)
burn(.4)
spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(one.ru_utime + one.ru_stime for one in spent))
P
sum_of() { profile "{label=\"$1\"}" | json "d['total'] / 1e9"; }
close_to() { is_all_of "$1" "$2" .01 .02; }
# is_named SERVICE ANSWER: the collector has the program's names, which arrive after its samples
is_named() { profile "{service=\"$1\"}" >"$2" && grep -q alpha_sixty "$2"; }
whole() { sum=$(sum_of "$1" 2>/dev/null) && close_to "$sum" "$2"; }
# nest NAME INNER-OPTIONS COMMAND...: the outer program in all its variants, with a run within.
nest() {
  name=$1 options=$2
  shift 2
  inner="fleetprof run --state $B --service inner-$name --hz 499 $options -- $targets/truth 1.2 >$W/$name.inner"
  stolen_before=$(stolen)
  "$@" /usr/bin/python3 "$W/outer.py" "$inner" >"$W/$name.outer" 2>"$W/$name.err" || fail "$name ended with $?: $(cat "$W/$name.err")"
  [ ! -s "$W/$name.err" ] || fail "$name wrote: $(cat "$W/$name.err")"
  spent=$(tail -n 1 "$W/$name.outer")
  until_true 10 whole "$name" "$spent" || fail "$name: all services come to $(sum_of "$name") s of $spent: $(api load -d by=service -d from=-10m)"
  own=$(awk '{ print $4 + $5 }' "$W/$name.inner")
  until_true 10 is_named "inner-$name" "$W/$name.json" || fail "no names for inner-$name"
  close_to "$(json "d['total'] / 1e9" <"$W/$name.json")" "$own" || fail "$name: the inner run has $(json "d['total'] / 1e9" <"$W/$name.json") s of $own"
  truth_told "inner-$name" "$W/$name.json" "$W/$name.inner" .05 .02 0 "$(stolen_since)" || fail "$name: the inner shares are off"
  say "$name: all $sum of $spent s; inner $(json "d['total'] / 1e9" <"$W/$name.json") of $own s"
}
is_by() { status --format json | json "[n['sampler'] + ': ' + n['why'] for n in d['notes'] if n['service'] == '$1'][0]"; }

nest preload "--label label=preload" env LD_PRELOAD="$agent" FLEETPROF_LABEL=label=preload FLEETPROF_HZ=99
nest run "--label label=run" fleetprof run --state "$B" --label label=run --
nest timer "--label label=timer --sampler timer" env LD_PRELOAD="$agent" FLEETPROF_LABEL=label=timer FLEETPROF_HZ=99
is_by inner-timer | grep -q "^perf: .*sampled by perf already" || fail "the timer made no way: $(is_by inner-timer)"
until_true 10 books_are_closed board1 || fail "books $(books board1)"
[ "$(id -u)" = 0 ] || exit 0 # the rest is the same for every user
# A tree by timer, with a run by perf within.
nest below "--label label=below" fleetprof run --state "$B" --sampler timer --label label=below --
# Of three, each in the other.
inner="fleetprof run --state $B --label label=three --service second -- /usr/bin/python3 $W/outer.py 'fleetprof run --state $B --label label=three --service third -- $targets/truth 1 >$W/third' >$W/second"
env LD_PRELOAD="$agent" FLEETPROF_LABEL=label=three /usr/bin/python3 "$W/outer.py" "$inner" >"$W/first" || fail "three ended with $?"
until_true 10 whole three "$(cat "$W/first")" || fail "three: $(sum_of three) s of $(cat "$W/first"): $(api load -d by=service -d from=-10m)"
say "three: $(sum_of three) of $(cat "$W/first") s"
# A recorder can only be written by the agent, which is not at work in there: the program runs all the same.
env LD_PRELOAD="$agent" /usr/bin/python3 "$W/outer.py" "fleetprof run --verbose --state $B --collect recorder -- $targets/truth .2 >/dev/null" >/dev/null 2>"$W/recorder.err" || fail "recorder ended with $?"
grep -q "sampled by perf already" "$W/recorder.err" || fail "a recorder in a sampled tree: $(cat "$W/recorder.err")"
until_true 10 books_are_closed board1 || fail "books $(books board1)"
