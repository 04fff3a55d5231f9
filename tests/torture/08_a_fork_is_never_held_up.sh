#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 8: a program with 256 MiB forks 2000 times. With the agent each fork takes at most three times the
# costliest fork without it, in the program's own CPU time, and all of them end. (Kernels whose CPU
# timers expire in the interrupt, where a signal makes the kernel restart a fork:
# tests/boards/signals_hurt_no_call.sh.)
. "$(dirname "$0")/lib.sh"
HZ=10000
board forks
count=$(pick 60 2000)
costliest() { sed -n 's/.* \([0-9]*\) us the costliest.*/\1/p' "$1"; }
# Another's work on the same CPUs makes the costliest of so many twice as costly by itself: the best of three counts.
holds_below() { # holds_below SAMPLER
  local try
  for try in 1 2 3; do
    holds_alone "$torture/fork_storm" "$count" 256 100
    holds_under "$1" "$torture/fork_storm" "$count" 256 100
    say "without us: $(cat "$W/plain.out")"
    [ "$(costliest "$W/run.out")" -gt $((3 * $(costliest "$W/plain.out"))) ] || return 0
  done
  return 1
}
for sampler in "${samplers[@]}"; do
  holds_below "$sampler" || fail "$sampler: a fork took more than three times as long"
done
