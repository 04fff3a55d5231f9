#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No memory, at each allocation in turn: whatever a board sends (every message that is decoded or encoded, its whole
# conversation), the store with all that it does, and every question to the API.  Each is done, or refused as a whole and
# done the next time; the programs count what they let fail.  Their short forms are unit tests.
. "$(dirname "$0")/lib.sh"
units=${FLEETPROF_TARGETS%/targets}/unit
for test in fault/alloc_fail ingest/session_alloc_fail store/store_alloc_fail http/http_alloc_fail; do
  folder=${test%/*}
  program=$units/$folder/unit_${folder}_${test#*/}_test
  [ "$folder" != fault ] || program=$units/../fault/unit_fault_alloc_fail_test
  [ -x "$program" ] || not_run "$program is not built"
  "$program" >"$W/out" 2>&1 || fail "$test: $(grep -E 'ERROR|LINE' "$W/out" | head -n 3)"
  say "$test: $(grep -E '^[0-9]+ allocations' "$W/out" | tr '\n' ';')"
done
