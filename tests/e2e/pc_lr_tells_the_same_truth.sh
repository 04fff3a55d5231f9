#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two words a sample instead of a stack: the 60/30/10 program's shares are still its own within 3
# points and the total is its CPU time within 1 %; no frame is shown as a caller that only a link
# register named.  By perf and by timer.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
check() { # SERVICE: compares the answer and the folded stacks with the program's output
  profile "{service=\"$1\"}" >"$W/$1.json" || fail "no answer for $1"
  profile "{service=\"$1\"}" -d format=folded >"$W/$1.folded" || fail "no folded stacks for $1"
  truth_told "$1" "$W/$1.json" "$W/$1.truth" .03 .01 .9 "$(stolen_since)" || fail "$1 is off"
  # The place itself shows the function that another is inlined into; an inlined function is no
  # symbol.
  sed 's/ [0-9]*$//' "$W/$1.folded" | awk -F ';' 'NR == FNR { symbol[$0] = 1; next } NF > 1 && $NF in symbol' <(nm "$targets/truth" | awk '{ print $NF }') - >"$W/callers"
  [ ! -s "$W/callers" ] || fail "$1: a caller is shown: $(head -n 1 "$W/callers")"
}
for sampler in perf timer; do
  enroll "board-$sampler"
  # 4000 and 3000 samples: 3 points are more than three standard deviations of a share.
  [ $sampler = perf ] && hz=997 seconds=4 || hz=249 seconds=12
  stolen_before=$(stolen)
  run --service "lr-$sampler" --sampler $sampler --collect pc-lr --hz $hz -- "$targets/truth" $seconds \
    >"$W/lr-$sampler.truth" || fail "the program under $sampler ended with $?"
  check "lr-$sampler"
done
