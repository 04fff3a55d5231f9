#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The collector's disk loses power at every write of a store, with unflushed data lost, kept, or
# torn and out of order, and again during the recovery (tests/unit/store: a VFS under SQLite). The
# short form is among the unit tests; the long form takes every write three times.
. "$(dirname "$0")/lib.sh"
tests=${FLEETPROF_TARGETS%/targets}/unit/store
for name in power_cut_test store_faults_test; do
  is_long || [ $name = power_cut_test ] || continue
  "$tests/unit_store_$name" >"$W/said" 2>&1 || fail "$name: $(grep -vE 'RUN|OK' "$W/said" | head -n 5)"
  grep -E 'cuts|failed, ' "$W/said" | while read -r line; do say "$line"; done
done
