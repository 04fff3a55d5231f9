#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A collector that accepts connections and never sends anything, while batches are added to a full
# spool. The limit holds and the oldest batches are dropped first. When the collector is back all
# remaining batches arrive, at no more than the permitted rate. (Two days of it, second by second:
# tests/unit/uplink/uplink_session_test.c.)
. "$(dirname "$0")/lib.sh"
files=$(dirname "$0")/spool_files.py
rate=300000
start_collector
enroll dark
hole=$(port)
/usr/bin/python3 -c 'import socket, sys, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(50)
time.sleep(600)' "$hole" &
started+=($!)
"$files" copies "$B/spool" "$(dirname "$0")/../fleet/captured/redis.spool" 1062000
oldest=$(ls "$B"/spool/*.seg | head -n 1) newest=$(ls "$B"/spool/*.seg | tail -n 1)
fleetprofd --state "$B" --window 1s --spool-bytes 1M --send-bytes $rate --collector "127.0.0.1:$hole" || fail "the daemon does not start"
for again in 1 2; do
  run --collector "127.0.0.1:$hole" --hz 997 --flush-timeout 0s -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
  kept=$("$files" count "$B/spool" | cut -d ' ' -f 3)
  [ "$kept" -le $((1 << 20)) ] || fail "$kept bytes in a spool of 1 MiB"
done
is_gone_file() { [ ! -e "$oldest" ]; }
until_true 10 is_gone_file || fail "nothing was dropped: $("$files" count "$B/spool"), $(status)"
[ -e "$newest" ] || fail "the newest of them was dropped before older ones"
status | grep -q 'uplink .*: \(connecting\|waiting\)' || fail "it talks to a hole: $(status)"
kill "$(cat "$B/fleetprofd.pid")"
until_true 10 is_gone "$(cat "$B/fleetprofd.pid" 2>/dev/null || echo 999999999)"
read -r batches samples bytes < <("$files" count "$B/spool")
# The daemon is restarted with the collector's address, as after an enrolment.
fleetprofd --state "$B" --spool-bytes 1M --send-bytes $rate --collector "127.0.0.1:$A" || fail "the daemon does not start again"
begun=$(date +%s%N)
queue_is_empty() { [ "$(asked "d['spool']['entries']")" = 0 ]; }
until_true 40 queue_is_empty || fail "the queue stands still: $(status)"
took=$((($(date +%s%N) - begun) / 1000000))
# A second's worth is sent at once.
[ $took -ge $(((bytes / rate - 2) * 1000)) ] || fail "$bytes bytes in $took ms: more than $rate a second"
stored=$(api loss | json "d['stored']")
[ "$stored" = "$samples" ] || fail "stored $stored of the $samples samples that waited"
say "$batches batches, $bytes bytes came in $took ms; $stored samples stored"
