#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 42: the pages beside a program's own stacks are continuously unmapped and mapped, while it samples
# itself on them: no read of a walk faults, and readable memory is read.
. "$(dirname "$0")/lib.sh"
board fibers
sampler=timer
is_refused && sampler=auto
count=$(pick 400000 5000000)

for threads in 1 2; do
  fleetprof run --service fibers --sampler $sampler --hz 499 -- "$torture/fibers" "$count" $threads >"$W/said" || fail "fibers ended with $?"
  read -r walked whole other <"$W/said"
  [ "$walked" -ge $((count * 9 / 10)) ] || fail "of $count samples $walked were walked"
  # A quarter are of makecontext's stacks; tables and mappings take a moment to arrive, and pages a
  # round to be known.
  [ "$whole" -gt 45 ] || fail "$whole of 1000 walks were whole, $other ended at another stack"
  say "$threads threads: $walked walks, $whole of 1000 whole, $other of 1000 ended at another stack"
done
