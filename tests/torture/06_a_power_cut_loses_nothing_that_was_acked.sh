#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The power of the collector's disk goes at every write that a store makes, with what was not flushed lost, kept, or
# torn and out of order, and again while the store gets up (tests/unit/store: a VFS under SQLite).  The short form is among
# the unit tests; the long one takes every write three times.
. "$(dirname "$0")/lib.sh"
tests=${FLEETPROF_TARGETS%/targets}/unit/store
for name in power_cut_test store_faults_test; do
  is_long || [ $name = power_cut_test ] || continue
  "$tests/unit_store_$name" >"$W/said" 2>&1 || fail "$name: $(grep -vE 'RUN|OK' "$W/said" | head -n 5)"
  grep -E 'cuts|failed, ' "$W/said" | while read -r line; do say "$line"; done
done
