#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board with steady load sends deltas to its last window: fewer bytes than spooled batches, and
# the same data in the collector's answer. It also works after the collector is killed, when the
# next window stands alone.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
ingest() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v name="fleetprof_ingest_$1" '$1 == name { print $2 }'; }
have_come() { [ "$(ingest "$1")" -ge "$2" ]; }
fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "no daemon"
fleetprof run --state "$B" --collector "127.0.0.1:$A" --service steady --hz 997 -- "$targets/spin" - >"$W/spent" &
program=$!
until_true 20 have_come batches_referring_total 5 || fail "$(ingest batches_referring_total) of $(ingest batches_stored_total) batches refer to another"
[ "$(ingest batches_refused_total) $(ingest batches_failed_total)" = "0 0" ] || fail "some were not taken"
stop_collector KILL
collector_up
until_true 20 have_come batches_stored_total 2 || fail "nothing comes after the collector's end"
[ "$(ingest batches_referring_total)" -lt "$(ingest batches_stored_total)" ] || fail "the first batch of a connection refers to another"
until_true 20 have_come batches_referring_total 5 || fail "after the collector's end batches stand alone"
kill -TERM $program # which fleetprof passes on to its program
wait $program || fail "the program ended with $?"
until_true 10 books_are_closed board1 || fail "books $(books board1)"
total=$(profile '{service="steady"}' | json "d['total'] / 1e9")
is_all_of "$total" "$(cat "$W/spent")" .01 .02 || fail "total $total of $(cat "$W/spent") s"
