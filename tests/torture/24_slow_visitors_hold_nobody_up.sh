#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Visitors who send a head or a body, or read an answer, a byte a second, and thousands who say nothing at all (in all as
# many as descriptors allow): each is sent away at its deadline or for another's sake, boards are acked and the API answers
# meanwhile.  How long both take is shown beside how long they take alone; a fail is only what nobody would call slow.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/door
many=$(pick 800 10000)
seconds=$(pick 6 60)
SLOW_MS=5000
DEADLINE=45 # the longest in collector/http/client.c for one of these is 30 s
start_collector
enroll good
token=$(fleetprof-collector token --data "$W/data" --role symbols) || fail "no token"
beside() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$B" "127.0.0.1:$A" "$1" "http://127.0.0.1:$H" >"$W/$2" 2>"$W/good.err" || fail "$2: $(tail -n 1 "$W/good.err")"; }
beside "$(pick 2 10)" alone
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/slow.py" "127.0.0.1:$H" "$seconds" $((many / 2)) "$token" >"$W/slow" 2>&1 &
slow=$!
started+=($slow)
sleep 1
# Every answer is asked for on a connection of its own: it must find a place among theirs.
beside "$(pick 4 50)" crowded
crowd=$(curl -fs --max-time 20 "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_http_connections" { print $2 }')
[ "${crowd:-0}" -gt 10 ] || fail "nobody is there: $crowd"
wait $slow || fail "$(cat "$W/slow")"
for row in acks answers; do
  read -r _ count median longest < <(grep "^$row" "$W/crowded") || fail "no $row"
  [ "${longest%.*}" -lt $SLOW_MS ] || fail "$row took $longest ms among slow visitors"
  read -r _ _ _ before < <(grep "^$row" "$W/alone")
  say "$row: 99 % within $before ms alone, within $longest ms among $crowd connections ($count, median $median ms)"
done
awk -v a="$(awk '{ print $3 }' "$W/slow")" -v b="$(awk '{ print $6 }' "$W/slow")" -v limit=$DEADLINE 'BEGIN { exit !(a < limit && b < limit) }' ||
  fail "heads or bodies were waited for too long: $(cat "$W/slow")"
say "sent away, and longest connection in seconds: $(cat "$W/slow")"
kill -0 "$COLLECTOR" || fail "the collector has ended"
