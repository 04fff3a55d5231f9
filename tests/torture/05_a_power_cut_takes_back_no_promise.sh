#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board after a power cut: the disk as it was a moment ago, torn at the end of its newest file;
# /run is empty. The daemon starts, resends batches that the collector has (which count once), cuts
# the tail and counts it. In the long form the counters of the interrupted run are closed too.
# (Every write, dropped, torn and reordered, and again during recovery:
# tests/unit/spool/spool_power_cut_test.c.)
. "$(dirname "$0")/lib.sh"
files=$(dirname "$0")/spool_files.py
start_collector
enroll cut
fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "the daemon does not start"
run --hz 499 --flush-timeout 5s -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
for again in $(seq "$(pick 2 20)"); do
  stop_collector
  run --hz 499 --flush-timeout 0s -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
  rm -rf "$W/disk" && cp -a "$B/spool" "$W/disk"
  collector_up # it gets all of it, and acks it
  queue_is_empty() { [ "$(asked "d['spool']['entries']")" = 0 ]; }
  until_true 70 queue_is_empty || fail "the queue stands still: $(status)"
  kill -9 "$(cat "$B/fleetprofd.pid")" "$(worker)"
  stored=$(api loss | json "d['stored']")
  rm -rf "$B/spool" "$B/books"* "$B/fleetprofd.pid" "$B/fleetprofd.sock" && mv "$W/disk" "$B/spool"
  last=$(ls "$B"/spool/*.seg | tail -n 1)
  truncate -s -"$((again * 7 % 40 + 1))" "$last"
  fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "the daemon does not start after cut $again"
  until_true 20 queue_is_empty || fail "the queue stands still: $(status)"
  [ "$(asked "d['spool']['torn_tails']")" = 1 ] || fail "the torn tail is not counted: $(asked "d['spool']")"
  [ "$(api loss | json "d['stored']")" = "$stored" ] || fail "stored twice: $(api loss), before $stored"
done
run --hz 199 -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
if is_long; then # once a run has been silent for three minutes
  until_true 400 books_are_closed cut || fail "the books do not close: $(books cut)"
fi
read -r produced stored dropped pending < <(books cut)
answered=$(profile '{board="cut"}' | json "d['samples']")
[ "$answered" = "$stored" ] || fail "the answer holds $answered samples of $stored stored"
say "produced $produced, stored $stored, dropped $dropped, pending $pending"
