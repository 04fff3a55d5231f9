#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program with known shares of 60/30/10 %: each share within 2 points, the three functions hold at
# least 95 % of all, and the total weight is the program's own CPU time (perf 1 %, timer 3 %). With
# 8000 samples each, 2 points are more than three and a half standard deviations of a share. An
# ordinary user's path is the same: if root runs too, the user's run takes half of them by perf, and
# a quarter by timer, within 4 points.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
for sampler in perf timer; do
  [ $sampler = perf ] && hz=997 seconds=8 || hz=249 seconds=32 # a timer has the kernel's tick at most
  if [ -n "${FLEETPROF_AS_USER:-}" ]; then
    shares=.04
    [ $sampler = perf ] && seconds=4 || seconds=8
  fi
  stolen_before=$(stolen)
  run --service "truth-$sampler" --sampler $sampler --hz $hz -- "$targets/truth" $seconds >"$W/$sampler.truth" \
    || fail "the program under $sampler ended with $?"
  [ $sampler = perf ] && stolen=$(stolen_since) # a timer's clock is the program's own
done
for sampler in perf timer; do
  profile "{service=\"truth-$sampler\"}" >"$W/$sampler.json" || fail "no answer for $sampler"
  [ $sampler = perf ] && total=.01 || total=.03 stolen=0
  truth_told $sampler "$W/$sampler.json" "$W/$sampler.truth" ${shares:-.02} $total .95 "$stolen" || fail "$sampler is off"
done
