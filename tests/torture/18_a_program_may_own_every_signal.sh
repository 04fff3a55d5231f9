#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 18: a program that handles, ignores, awaits or resets every real-time signal sees its own signals;
# we say handler_lost.
. "$(dirname "$0")/lib.sh"
HZ=5000
ms=$(pick 150 10000)
board owner
for mode in handler ignore wait default; do same "$torture/signal_owner" $mode "$ms"; done
# Said while it runs: the census is made by the daemon.
grep -q handler_lost "$FLEETPROF_PREFIX/bin/fleetprofd" || { without handler_lost "this build's daemon makes no census"; exit 0; }
for mode in handler ignore default; do
  sampled timer "$torture/signal_owner" $mode 4000 >"$W/run.out" 2>&1 &
  target=$!
  is_said() { fleetprof status --state "$B" --format json | grep -q handler_lost; }
  until_true 8 is_said || lost_unsaid=1
  wait $target || fail "timer: $mode: ended with $?: $(cat "$W/run.out")"
  [ -z "${lost_unsaid:-}" ] || fail "timer: $mode: status does not say handler_lost"
done
