#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Out of memory, at each allocation in turn: every message of a board (decoded or encoded, and its
# whole conversation), all operations of the store, and every query of the API. Each succeeds, or is
# rejected as a whole and succeeds the next time; the programs count the failed allocations. The
# short forms are unit tests.
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
