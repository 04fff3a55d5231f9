#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A million batches of six boards, two of which lie about half of the time (weights, counts, books, times): those that cannot be
# are refused, of the others every number comes out exactly, the books close and no counter falls (tests/fuzz/arithmetic.c).
# Then another seed: a month's sums are made and read in the windows' place.
. "$(dirname "$0")/lib.sh"
program=${FLEETPROF_TARGETS%/targets}/fuzz/arithmetic
[ -x "$program" ] || not_run "$program is not built"
for arguments in "$(pick 20000 1000000) 1" "$(pick 20000 200000) $RANDOM"; do
  # shellcheck disable=SC2086 # two arguments
  "$program" $arguments >"$W/out" 2>&1 || fail "arithmetic $arguments: $(tail -n 1 "$W/out")"
  say "arithmetic $arguments: $(tail -n 1 "$W/out")"
done
