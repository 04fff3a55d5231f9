#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the collector, three times in the middle of a run: every sample is stored, once.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
fleetprof run --state "$B" --collector "127.0.0.1:$A" --sampler perf --hz 199 -- "$targets/spin" - >"$W/spin" &
program=$!
started+=($program)
for pause in 2 2 2; do
  sleep $pause
  stop_collector KILL
  sleep 0.5
  collector_up
done
kill $program # run hands it on
wait $program || fail "the program ended with $?"
until_true 20 books_are_closed board1 || fail "the books do not close: $(books board1)"
read -r produced stored dropped pending < <(books board1)
[ "$dropped" = 0 ] || fail "$dropped samples lost: $(api loss)"
answered=$(profile '{board="board1"}' | json "d['samples']")
[ "$answered" = "$stored" ] || fail "the answer holds $answered samples of $stored stored"
say "produced $produced stored $stored dropped $dropped in the answer $answered"
