#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 18: a program that handles, ignores, awaits or resets every real-time signal sees its own signals
# and none of ours; the reason handler_lost is reported.
. "$(dirname "$0")/lib.sh"
HZ=5000
ms=$(pick 150 10000)
board owner
for mode in handler ignore wait poll ask default; do same "$torture/signal_owner" $mode "$ms"; done
# Reported while it runs: the daemon makes the census.
running=()
for mode in handler ignore default; do
  fleetprof run --state "$B" --flush-timeout 0s --service "lost-$mode" --sampler timer -- "$torture/signal_owner" $mode 60000 >"$W/$mode.out" 2>&1 &
  running+=($!)
  started+=($!)
done
# If perf is available the program continues by it, and the reason is reported.
is_said() { [ "$(asked "sum('handler_lost' in t['unsampled'] or 'uses SIGURG itself' in t['why'] for t in d['targets'] if t['service'].startswith('lost-'))")" = 3 ]; }
until_true 30 is_said || fail "timer: status does not say handler_lost of all: $(asked "[(t['service'], t['unsampled'], t['why']) for t in d['targets']]")"
for pid in "${running[@]}"; do
  kill "$(pgrep -P "$pid")" # it burns until then
  wait "$pid"
  status=$?
  [ $status = 143 ] || fail "timer: ended with $status: $(cat "$W"/*.out)"
done 2>/dev/null
say "handler_lost is said of each"
