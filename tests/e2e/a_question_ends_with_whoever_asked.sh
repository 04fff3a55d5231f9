#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Thirty-three queries fill all places, and their client closes the connection, by a reset or
# normally. None of them runs to its end, wherever the running one is, and the next query is
# answered. Places are shared: another client's query is next, whichever client has filled the
# queue. A half-closed client still gets its answer. Web pages of other sites are refused with the
# reason. Queries are held at events, and nothing depends on time (held.sh).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/held.sh"
STACKS=8000 # in batches of OF_BATCH
OF_BATCH=2000
QUESTIONS=33 # one runs, 32 wait
held_collector --board-nodes 0
enroll wide
python "$door/stacks.py" "$B" "127.0.0.1:$A" $STACKS $OF_BATCH >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
heavy="/api/v1/profile?from=-1d&format=folded"
whole() { curl -fs -m $LONG -H 'Accept-Encoding: gzip' -o "$W/whole" "http://127.0.0.1:$H$heavy" || fail "one question alone is not answered"; }

# Two queries to their end; the first has to read data that later ones have cached.
whole
before=$(logged block) packed=$(logged packed)
whole
BLOCKS=$(($(logged block) - before))
[ $BLOCKS -ge 3 ] && [ "$(logged packed)" -gt "$packed" ] || fail "a whole question reads $BLOCKS blocks, $(logged packed) pieces were packed"

# all_go AT: all send their query, the first is held at its block AT, they disconnect, and it is
# released.
all_go() {
  local before begun packed abandoned
  before=$(answered) begun=$(logged block) packed=$(logged packed) abandoned=$(metric fleetprof_http_abandoned_requests_total)
  hold "$1"
  asks $QUESTIONS "$heavy"
  until_true $LONG has_begun $((begun + $1)) || fail "it does not come to block $1"
  gone
  until_true $LONG is_metric fleetprof_http_abandoned_requests_total $((abandoned + QUESTIONS)) || fail "$(($(metric fleetprof_http_abandoned_requests_total) - abandoned)) of $QUESTIONS were abandoned"
  is_metric fleetprof_queries_waiting 0 || fail "$(metric fleetprof_queries_waiting) still wait"
  let_go
  until_true $LONG is_metric fleetprof_queries_running 0 || fail "it still runs"
  is_metric fleetprof_queries_waiting 0 || fail "$(metric fleetprof_queries_waiting) wait again"
  [ "$(answered)" = "$before" ] || fail "$(($(answered) - before)) were answered, though nobody waits"
  [ "$(logged block)" = $((begun + $1)) ] || fail "block $1: nobody waits, and $(($(logged block) - begun - $1)) more blocks were read"
  [ "$(logged packed)" = "$packed" ] || fail "block $1: nobody waits, and an answer was packed"
  curl -fs -m $LONG -o /dev/null "http://127.0.0.1:$H/api/v1/labels" || fail "the next question is not answered"
}
all_go 1
all_go $BLOCKS
say "$QUESTIONS were given up twice, of $BLOCKS blocks each"

# One client has all places, and more queries than there are places; another client's query is the
# next to be answered.
token=$(fleetprof-collector token --data "$W/data" --role read) || fail "no token"
curl -fs -m $LONG -o /dev/null -H "Authorization: Bearer $token" "http://127.0.0.1:$H/api/v1/labels" || fail "the token is not taken"
begun=$(logged block)
hold
python "$door/ask.py" "$H" "$heavy" 1 read "$token" crowd >>"$W/order" &
first=$!
until_true $LONG has_begun $((begun + 1)) || fail "none runs"
python "$door/ask.py" "$H" "$heavy" $((QUESTIONS + 4)) read "$token" crowd >>"$W/order" &
crowd=$!
started+=($first $crowd)
refused() { [ "$(grep -c 'crowd 503' "$W/order")" = "$1" ]; }
until_true $LONG refused 5 || fail "of those there is no place for: $(cat "$W/order")"
python "$door/ask.py" "$H" "$heavy" 1 read "" other >>"$W/order" &
other=$!
started+=($other)
until_true $LONG refused 6 || fail "nobody made room: $(cat "$W/order")"
let_go
wait $other || fail "the other asker: $?"
wait $first && wait $crowd || fail "the crowd: $?"
[ "$(grep -v 503 "$W/order" | grep -n 'other 200' | cut -d: -f1)" -le 3 ] || fail "another's question has waited for many of one: $(cat "$W/order")"
[ "$(grep -c 'crowd 200' "$W/order")" = $((QUESTIONS - 1)) ] || fail "the crowd's own: $(sort "$W/order" | uniq -c)"

# A half-closed client is checked for whether it still reads, and gets its answer.
python "$door/ask.py" "$H" "$heavy" 1 half >"$W/half"
grep -qE '^(100 )?200$' "$W/half" || fail "half-closed: $(cat "$W/half")"

# Pages of other sites.
from_page() { curl -s -m $LONG -o "$W/answer" -w '%{http_code}' "http://127.0.0.1:$H$1" "${@:2}"; }
[ "$(from_page "$heavy" -H 'Sec-Fetch-Site: cross-site')" = 401 ] || fail "a page of another site is answered: $(head -c 300 "$W/answer")"
json "d['detail']" <"$W/answer" | grep -q "web page of another site" || fail "not said why: $(cat "$W/answer")"
[ "$(from_page /api/v1/labels -H 'Sec-Fetch-Site: same-site')" = 401 ] || fail "a page of another name of this site is answered"
[ "$(from_page /api/v1/labels -H 'Origin: https://example.org')" = 401 ] || fail "a foreign origin is answered"
[ "$(from_page /api/v1/labels -H 'Sec-Fetch-Site: same-origin' -H "Origin: http://127.0.0.1:$H")" = 200 ] || fail "our own page is not answered"
[ "$(from_page / -H 'Sec-Fetch-Site: cross-site')" = 200 ] || fail "a link to the page does not work"
[ "$(from_page /api/v1/labels -H 'Sec-Fetch-Site: cross-site' -H "Authorization: Bearer $token")" = 200 ] || fail "a token is not enough"
