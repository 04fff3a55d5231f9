#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 14: threads set errno and compare while every way out of the handler is forced (see the target).
. "$(dirname "$0")/lib.sh"
HZ=10000
checks=$(pick 20000000 100000000)
board errno --window 1s
SAMPLES=3 holds "$torture/errno_canary" "$checks"
holds "$torture/stepped" "$(pick 20 2000)"
# The ring fills when it is not drained: it is small at 99 Hz, and forged samples fill it, more
# slowly under other load.
worker=$(pgrep -P "$(cat "$B/fleetprofd.pid")")
is_settled() { [ "$(asked "d['targets']")" = '[]' ] && books_are_exact; }
# The shortest may end before the check; then the next one is longer.
until_sampled_or_gone() {
  is_either() { is_gone $canary || is_sampled; }
  until_true 10 is_either
}
is_sampled() { [ "$(asked "len([t for t in d['targets'] if not t.get('ended')])")" = 1 ]; }
for times in 5 25 125; do
  HZ=99 sampled "${samplers[-1]}" "$torture/errno_canary" $((times * checks)) >"$W/run.out" 2>"$W/run.err" &
  canary=$!
  until_sampled_or_gone || fail "the canary is not sampled: $(cat "$W/run.err")"
  kill -STOP "$worker"
  wait $canary
  status=$?
  kill -CONT "$worker"
  [ $status = 0 ] || fail "timer, full ring: ended with $status: $(cat "$W/run.out" "$W/run.err")"
  until_true 10 is_settled || fail "the books: $(asked "d['loss']")"
  losses=$(lost)
  [[ $losses != *ring_full=* ]] || break
done
[[ $losses == *ring_full=* ]] || fail "the ring was never full: $losses"
case $losses in *reentry=*) ;; *) fail "the handler was never entered twice: $losses" ;; esac
say "full ring and re-entry happened: $losses"
sampled timer "$torture/errno_canary" 1500000000 >"$W/run.out" 2>"$W/run.err" &
canary=$!
until_true 10 is_sampled || fail "the canary is not sampled"
switched=0
while kill -0 $canary 2>/dev/null; do
  fleetprof ctl pause --state "$B" >"$W/ctl" 2>&1 && fleetprof ctl resume --state "$B" >"$W/ctl" 2>&1 && switched=$((switched + 1))
  sleep .05
done
wait $canary || fail "timer, paused and resumed: ended with $?: $(cat "$W/run.out" "$W/run.err")"
[ $switched -gt 0 ] || fail "it could not be paused: $(cat "$W/ctl")"
say "paused and resumed $switched times: $(cut -d ';' -f 1 "$W/run.out")"
