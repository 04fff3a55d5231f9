#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of keeper and worker at once, then of the keeper alone, then of both twice in a row:
# the daemons that come after close the dead runs' books, and the program never notices.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
run --sampler perf --hz 199 --flush-timeout 2s -- "$targets/truth" 8 >"$W/truth" &
program=$!
sleep 2.5
keeper=$(cat "$B/fleetprofd.pid")
kill -9 "$keeper" "$(worker)"
wait $program || fail "the program ended with $?"
run --sampler perf --hz 199 -- "$targets/truth" 6 >"$W/truth" &
program=$!
sleep 1.5
kill -9 "$(cat "$B/fleetprofd.pid")"
wait $program || fail "the program ended with $?"
for again in 1 2; do
  run --sampler perf --hz 199 --flush-timeout 2s -- "$targets/truth" 4 >"$W/truth" &
  program=$!
  until_true 5 worker >/dev/null || fail "no worker in round $again"
  sleep 1.5
  kill -9 "$(cat "$B/fleetprofd.pid")" "$(worker)"
  wait $program || fail "the program ended with $?"
done
run -- true
until_true 20 books_are_closed board1 || fail "the books do not close: $(books board1)"
read -r produced stored dropped pending < <(books board1)
answered=$(profile '{board="board1"}' | json "d['samples']")
[ "$answered" = "$stored" ] || fail "the answer holds $answered samples of $stored stored"
say "produced $produced stored $stored dropped $dropped"
