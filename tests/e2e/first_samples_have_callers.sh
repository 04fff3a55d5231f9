#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program of a tenth of a second, started by run. By timer the tables of its files exist before it
# begins; by perf its first samples wait for them. So all of its stacks are complete. On a busy
# machine the tables may be late, so one of three runs must succeed.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
is_complete() { # SAMPLER
  for try in 1 2 3; do
    rm -f "$W/x.fp"
    fleetprof run --sampler "$1" --hz 997 --output "$W/x.fp" -- "$targets/phases" 1000 .1 >/dev/null || fail "it ended with $?"
    stacks=$(fleetprof report "$W/x.fp" | grep '^stacks:')
    say "$1: $stacks"
    [ "$stacks" = "stacks: 100.0 % complete" ] && return
  done
  fail "by $1: samples without callers in each of three runs"
}
is_complete timer
is_complete perf
