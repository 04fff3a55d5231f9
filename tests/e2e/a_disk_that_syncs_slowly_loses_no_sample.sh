#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A memory card that takes two seconds for each fdatasync while a program runs on all CPUs: no ring fills up meanwhile.
. "$(dirname "$0")/lib.sh"
strace -o /dev/null true 2>/dev/null || { without "a slow disk" "strace may not be used here"; exit 77; }
start_collector
enroll card
fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "fleetprofd ended with $?"
run --hz 199 --sampler perf -- "$targets/chain" 9 &
program=$!
strace -f -p "$(worker)" -e trace=fdatasync -e inject=fdatasync:delay_enter=2000000 -o "$W/calls" 2>/dev/null &
slow=$!
started+=($slow)
wait $program || fail "the program ended with $?"
kill $slow
wait $slow
[ "$(grep -c DELAYED "$W/calls")" -ge 1 ] || fail "the disk was not slow: $(cat "$W/calls")"
# (Of a daemon that waited, a fifth were lost.  Among many that want the CPUs it is itself late now and then.)
status --format json | json "d['loss']['dropped']['ring_full'] <= 0.03 * d['loss']['produced'] and d['loss']['produced'] > 100" | grep -q yes ||
  fail "lost: $(status --format json | json "d['loss']")"
say "$(grep -c DELAYED "$W/calls") syncs of two seconds each; lost: $(status --format json | json "d['loss']['dropped']['ring_full']")"
