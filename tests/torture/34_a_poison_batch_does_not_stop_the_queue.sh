#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The queue for a real collector contains a batch that does not inflate and one that contradicts its
# own envelope. Each is rejected once, kept in quarantine and reported by status; all batches before
# and behind are stored, and a restart sends neither again.
. "$(dirname "$0")/lib.sh"
files=$(dirname "$0")/spool_files.py
start_collector
enroll poisoned
"$files" copies "$B/spool" "$(dirname "$0")/../fleet/captured/redis.spool" 100000
read -r batches samples _ < <("$files" count "$B/spool")
runs=$(ls "$B"/spool/*.seg | wc -l)
"$files" poison "$B/spool"
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
queue_is_empty() { [ "$(asked "d['spool']['entries']")" = 0 ]; }
until_true 20 queue_is_empty || fail "the queue stands still: $(status)"
[ "$(asked "d['spool']['quarantined']")" = $((2 * runs)) ] || fail "quarantined: $(asked "d['spool']")"
[ "$(find "$B/spool/quarantine" -name '*.batch' | wc -l)" = $((2 * runs)) ] || fail "in quarantine: $(ls "$B/spool/quarantine")"
status | grep -q "$((2 * runs)) batches refused for good and kept in quarantine" || fail "status does not tell: $(status)"
stored=$(api loss | json "d['stored']")
[ "$stored" = "$samples" ] || fail "stored $stored of $samples samples in $batches batches"
refused() { curl -fs "http://127.0.0.1:$H/metrics" | awk '/batches_refused_total/ && !/^#/ { n += $2 } END { print n + 0 }'; }
[ "$(refused)" = $((2 * runs)) ] || fail "the collector refused $(refused) batches, not $((2 * runs))"
# kill -9 of both, and a start: nothing is sent again.
kill -9 "$(cat "$B/fleetprofd.pid")" "$(worker)"
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start again"
run -- true || fail "no program can be run: $?"
until_true 20 queue_is_empty || fail "the queue stands still: $(status)"
[ "$(refused)" = $((2 * runs)) ] || fail "refused anew after a restart: $(refused)"
[ "$(api loss | json "d['stored'] >= $samples")" = yes ] || fail "stored: $(api loss)"
say "$((2 * runs)) poison batches among $batches: each refused once, $stored samples stored"
