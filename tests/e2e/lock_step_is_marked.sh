#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program in step with the kernel's tick: the timer's answer has the lock-step mark and shows its
# result; perf has no mark and is within 3 points. A program that never sleeps has no mark.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
seconds=${SECONDS_EACH:-8} # by perf 3200 samples: 3 points are 3.6 standard deviations

# Of the time in the two functions, as the program itself measures it.
share() { profile "{service=\"$1\"}" | json "(lambda w: round(100 * w.get('first_two_thirds', 0) / max(1, w.get('first_two_thirds', 0) + w.get('second_one_third', 0)), 1))({f['name']: f['self'] for f in d['functions']})"; }
marks() { profile "{service=\"$1\"}" "${@:2}" | json "[m['service'] + ' ' + m['mark'] + ' ' + m['certainty'] for m in d['marks']]"; }
has_profile() { [ "$(profile "{service=\"$1\"}" 2>/dev/null | json "d['samples'] > 0")" = yes ]; }
# step SAMPLER HZ: both at once, as a program in step works a quarter of the time.
step() { run --sampler "$1" --hz "$2" --service "step-$1" -- "$targets/lockstep" "$seconds" >"$W/step-$1"; }
compare() { # SAMPLER
  truth=$(awk '{ print 100 * $1 }' "$W/step-$1")
  until_true 10 has_profile "step-$1" || fail "no profile of step-$1"
  shown=$(share "step-$1")
  say "$1: true $truth %, shown $shown %, marks $(marks "step-$1")"
}

step timer 250 & by_timer=$!
step perf 1613 || fail "the program by perf ended with $?"
wait $by_timer || fail "the program by timer ended with $?"
compare timer
[ "$(marks step-timer)" != "[]" ] || fail "no mark on a program in step with the tick"
marks step-timer -d format=tree | grep -q "step-timer lock_step" || fail "no mark in the tree"
profile '{service="step-timer"}' | grep -q "the total is right" || fail "the mark does not say what it means"
compare perf
[ "$(marks step-perf)" = "[]" ] || fail "perf is marked"
awk -v a="$truth" -v b="$shown" 'BEGIN { exit !(a - b <= 3 && b - a <= 3) }' || fail "perf shows $shown % where $truth % are true"

run --sampler timer --service busy -- "$targets/spin" 4000 >/dev/null
until_true 10 has_profile busy || fail "no profile of busy"
[ "$(marks busy)" = "[]" ] || fail "a program that never sleeps is marked: $(marks busy)"
# All in one answer: each service has its own mark.
[ "$(profile '{board="board1"}' | json "[m['service'] for m in d['marks']]")" = "['step-timer']" ] || fail "the marks of all are not those of one"
