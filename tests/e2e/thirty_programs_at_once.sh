#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Thirty programs at once, by perf, as an ordinary user with the default perf_event_mlock_kb: each is sampled,
# each has its samples in the answer, and the books close.
. "$(dirname "$0")/ordinary_user.sh"
if [ "$(id -u)" = 0 ]; then again_as_ordinary; exit; fi
. "$(dirname "$0")/lib.sh"
count=30
start_collector
enroll board1
# The first starts the daemon; all the others find it.
run --service warm-up --hz 199 -- true || fail "warm-up"
programs=()
for i in $(seq $count); do
  run --sampler perf --hz 199 --service "one-of-$count" --label "number=$i" -- "$targets/spin" 400 >/dev/null &
  programs+=($!)
done
most=0
for _ in $(seq 30); do
  now=$(status --format json | json "sum(t['sampler'] == 'perf' and t['service'].startswith('one-of') for t in d['targets'])")
  [ "$now" -gt "$most" ] && most=$now
  sleep 0.1
done
for program in "${programs[@]}"; do wait "$program" || fail "a program ended with $?"; done
say "uid $(id -u), perf_event_mlock_kb $(cat /proc/sys/kernel/perf_event_mlock_kb): at most $most of $count at once by perf"
[ "$most" = $count ] || fail "only $most of $count were by perf at once: $(status)"
for i in $(seq $count); do
  samples=$(profile "{number=\"$i\"}" | json "d['samples']")
  [ "$samples" -gt 20 ] || fail "program $i has $samples samples"
done
until_true 10 books_are_closed board1 || fail "the books do not close: $(api loss)"
