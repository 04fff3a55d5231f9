#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clients that send a head or a body, or read an answer, a byte a second, and thousands of silent
# clients (in all as many as descriptors allow). Each is closed at its deadline or to make room.
# Meanwhile boards are acked as soon as without them (lib.sh: unaffected), and the API answers
# within SLOW_MS, each on a new connection that first needs a place.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/door
many=$(pick 800 10000)
seconds=$(pick 6 60)
SLOW_MS=5000
CROWD=256 # connections at once: half of what there are at most (collector/http/http.c)
DEADLINE=45 # the longest in collector/http/client.c for one of these is 30 s
start_collector
enroll good
token=$(fleetprof-collector token --data "$W/data" --role symbols) || fail "no token"
beside() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$B" "127.0.0.1:$A" "$1" "http://127.0.0.1:$H" >"$W/$2" 2>"$W/good.err" || fail "$2: $(tail -n 1 "$W/good.err")"; }
beside "$(pick 2 10)" alone
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/slow.py" "127.0.0.1:$H" "$seconds" $((many / 2)) "$token" >"$W/slow" 2>&1 &
slow=$!
started+=($slow)
watch_crowd() { while sleep 0.5; do curl -fs --max-time 20 "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_http_connections" { print $2 }'; done >"$W/connections"; }
watch_crowd &
started+=($!)
sleep 1
# Every query uses a new connection, which must find a place among the slow ones.
beside "$(pick 4 50)" crowded
crowd=$(sort -n "$W/connections" | tail -n 1)
[ "${crowd:-0}" -ge $CROWD ] || fail "no crowd: $crowd connections at once, of $many that came"
wait $slow || fail "$(cat "$W/slow")"
for row in acks answers; do
  read -r _ count median longest < <(grep "^$row" "$W/crowded") || fail "no $row"
  read -r _ _ _ before < <(grep "^$row" "$W/alone")
  [ "${longest%.*}" -lt $SLOW_MS ] || fail "$row took $longest ms among slow visitors, $before ms alone"
  [ $row != acks ] || unaffected "acks among slow visitors" "$before" "$longest" $SLOW_MS
  say "$row: 99 % within $before ms alone, within $longest ms among $crowd connections ($count, median $median ms)"
done
awk -v a="$(awk '{ print $3 }' "$W/slow")" -v b="$(awk '{ print $6 }' "$W/slow")" -v limit=$DEADLINE 'BEGIN { exit !(a < limit && b < limit) }' ||
  fail "heads or bodies were waited for too long: $(cat "$W/slow")"
say "sent away, and longest connection in seconds: $(cat "$W/slow")"
kill -0 "$COLLECTOR" || fail "the collector has ended"
