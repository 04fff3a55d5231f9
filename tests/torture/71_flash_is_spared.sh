#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The spool's writes and syncs, as reported by status, are within the limits of docs/spool.md.
# Nothing is synced while the collector acks batches; without a collector at most once in five
# seconds; and only batches and their marks are written. The kernel's own count of the worker's
# dirtied bytes is printed beside it.
. "$(dirname "$0")/lib.sh"
start_collector
enroll flash
fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "the daemon does not start"
seconds=$(pick 5 60)
dirtied() { awk '$1 == "write_bytes:" { print $2 }' "/proc/$(worker)/io" 2>/dev/null || echo 0; }
load() { run --hz 99 --flush-timeout "$1" -- "$targets/truth" "$seconds" >/dev/null || fail "the program ended with $?"; }
load 5s
sent=$(asked "d['uplink']['acked_batches']") bytes=$(asked "d['spool']['day_bytes']") syncs=$(asked "d['spool']['day_syncs']")
[ "$sent" -ge 2 ] || fail "only $sent batches"
# A flush syncs unacked batches: one for each `run`; the start may sync existing ones.
[ "$syncs" -le 4 ] || fail "$syncs syncs while the collector takes all"
status | grep -q "written in the last 24 hours: .* in $syncs sync" || fail "status does not tell: $(status)"
say "with a collector, $seconds s of 1 s windows: $sent batches, $bytes bytes, $syncs syncs; $(dirtied) bytes of pages dirtied"
stop_collector
before=$syncs bytes=$(asked "d['spool']['day_bytes']") pages_before=$(dirtied)
load 0s
more=$(($(asked "d['spool']['day_syncs']") - before))
[ "$more" -le $((seconds / 5 + 4)) ] || fail "$more syncs in $seconds s without a collector"
written=$(asked "d['spool']['day_bytes']") waiting=$(asked "d['spool']['bytes']")
dirty=$(($(dirtied) - pages_before))
say "without: $((written - bytes)) bytes, $more syncs, $waiting bytes wait; $dirty bytes of pages dirtied"
batches=$(asked "d['spool']['entries']") marks=48
[ "$batches" -ge 2 ] && [ $((written - bytes)) -le $((waiting + marks * batches)) ] ||
  fail "$((written - bytes)) bytes were written, $waiting of $batches batches wait"
