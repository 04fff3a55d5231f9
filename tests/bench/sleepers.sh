#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The daemon's cost of idle programs, like most services of a board: CPU time of supervisor and
# worker while COUNT sleeping programs are the only targets, in per cent of a CPU, each SECONDS.
# Usage: sleepers.sh [COUNT] [SAMPLER] [ROUNDS] [SECONDS] (FLEETPROF_PREFIX as for tests/e2e)
. "$(dirname "$0")/../e2e/lib.sh"
count=${1:-60} sampler=${2:-timer} rounds=${3:-5} seconds=${4:-10}
start_collector
enroll sleepers
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
keeper=$(cat "$B/fleetprofd.pid")
worker=$(worker)
spent() { awk '{ sum += $1 } END { printf "%.0f\n", sum }' "/proc/$keeper/schedstat" "/proc/$worker/schedstat"; }
are_known() { [ "$(status --format json | json "len(d['targets'])")" = "$1" ]; }
sleepers=()
measure() { # measure NAME
  local round before
  echo -n "$1:"
  for round in $(seq "$rounds"); do
    before=$(spent)
    sleep "$seconds"
    awk -v ns=$(($(spent) - before)) -v s="$seconds" 'BEGIN { printf " %.3f", ns / s / 1e7 }'
  done
  echo " % of a CPU"
}
sleep 5
measure "no program"
for ((i = 0; i < count; i++)); do
  LD_PRELOAD=$agent FLEETPROF_SAMPLER=$sampler FLEETPROF_SOCKET=$B/fleetprofd.sock sleep 100000 &
  sleepers+=($!)
  started+=($!)
  [ $((i % 10)) != 9 ] || until_true 10 are_known $((i + 1)) || fail "of $((i + 1)) programs the daemon does not know all"
done
sleep 12 # a window is closed over their starts
measure "$count sleep, $sampler"
kill "${sleepers[@]}"
