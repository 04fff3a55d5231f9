#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of supervisor and worker at once, then of the supervisor alone, then of both twice in a
# row: the next daemons close the dead runs' counters, and the program is not disturbed.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
# begin OPTION...: a program that works until `ends`.
begin() {
  fleetprof run --state "$B" --collector "127.0.0.1:$A" --sampler perf --hz 199 "$@" -- "$targets/spin" - >"$W/spin" &
  program=$!
  started+=($program)
}
ends() {
  kill $program # run hands it on
  wait $program || fail "the program ended with $?"
}
begin --flush-timeout 2s
sleep 2.5
keeper=$(cat "$B/fleetprofd.pid")
kill -9 "$keeper" "$(worker)"
ends
begin
sleep 1.5
kill -9 "$(cat "$B/fleetprofd.pid")"
sleep 1
ends
for again in 1 2; do
  begin --flush-timeout 2s
  until_true 5 worker >/dev/null || fail "no worker in round $again"
  sleep 1.5
  kill -9 "$(cat "$B/fleetprofd.pid")" "$(worker)"
  ends
done
run -- true
until_true 20 books_are_closed board1 || fail "the books do not close: $(books board1)"
read -r produced stored dropped pending < <(books board1)
answered=$(profile '{board="board1"}' | json "d['samples']")
[ "$answered" = "$stored" ] || fail "the answer holds $answered samples of $stored stored"
say "produced $produced stored $stored dropped $dropped"
