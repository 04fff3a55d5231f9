#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 14: threads set errno and compare while every way out of the handler is forced (see the target).
. "$(dirname "$0")/lib.sh"
HZ=10000
checks=$(pick 20000000 100000000)
board errno --window 1s
SAMPLES=3 holds "$torture/errno_canary" "$checks"
holds "$torture/stepped" "$(pick 20 2000)"
# The ring is full when nobody drains it: it is small at 99 Hz, and forged samples fill it.
HZ=99
worker=$(pgrep -P "$(cat "$B/fleetprofd.pid")")
sampled timer sh -c "sleep .3; kill -STOP $worker; exec $torture/errno_canary $((checks * 4))" >"$W/run.out" 2>"$W/run.err" &
canary=$!
wait $canary
status=$?
HZ=10000
kill -CONT "$worker"
[ $status = 0 ] || fail "timer, full ring: ended with $status: $(cat "$W/run.out" "$W/run.err")"
is_settled() { [ "$(asked "d['targets']")" = '[]' ] && books_are_exact; }
until_true 10 is_settled || fail "the books: $(asked "d['loss']")"
losses=$(lost)
case $losses in *ring_full=*) ;; *) fail "the ring was never full: $losses" ;; esac
case $losses in *reentry=*) ;; *) fail "the handler was never entered twice: $losses" ;; esac
say "full ring and re-entry happened: $losses"
if fleetprof ctl --help >/dev/null 2>&1; then
  sampled timer "$torture/errno_canary" $((checks * 4)) >"$W/run.out" 2>"$W/run.err" &
  canary=$!
  sleep .5
  for _ in 1 2 3 4 5; do
    fleetprof ctl --state "$B" pause >"$W/ctl" 2>&1 || fail "pause: $(cat "$W/ctl")"
    sleep .05
    fleetprof ctl --state "$B" resume >"$W/ctl" 2>&1 || fail "resume: $(cat "$W/ctl")"
    sleep .05
  done
  wait $canary || fail "timer, paused and resumed: ended with $?: $(cat "$W/run.out" "$W/run.err")"
else
  without "pause and resume" "this build has no fleetprof ctl"
fi
