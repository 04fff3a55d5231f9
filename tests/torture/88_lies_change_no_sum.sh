#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A million batches of six boards, two of which send false data about half of the time (weights,
# counts, counters, times). Impossible batches are rejected, every number of the others is exact,
# the counters add up and none decreases (tests/fuzz/arithmetic.c). Then another seed: a month's
# rollups are made and read in place of the windows.
. "$(dirname "$0")/lib.sh"
program=${FLEETPROF_TARGETS%/targets}/fuzz/arithmetic
[ -x "$program" ] || not_run "$program is not built"
for arguments in "$(pick 20000 1000000) 1" "$(pick 20000 200000) $RANDOM"; do
  # shellcheck disable=SC2086 # two arguments
  "$program" $arguments >"$W/out" 2>&1 || fail "arithmetic $arguments: $(tail -n 1 "$W/out")"
  say "arithmetic $arguments: $(tail -n 1 "$W/out")"
done
