#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An operator revokes one of two boards and takes that back, again and again, while its programs run, with the collector killed
# between the two and beside it: each time the list, the API, the board and a new token say how it stands, names that no board has
# are refused with the nearest one, the other board is acked as ever, and at the end all that was sampled is stored.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../e2e/queries.sh"
. "$(dirname "$0")/../e2e/revocations.sh"
ROUNDS=$(pick 1 12)
start_collector
enroll press-8
other=$B
enroll press-7
fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "no daemon"
works() { fleetprof run --state "$B" --service press --hz 199 -- "$targets/truth" .3 >/dev/null || fail "the program ended with $?"; }
is_delivered() { books_are_closed press-7; }
kill_collector() { stop_collector KILL && collector_up; }
token_says() { fleetprof-collector token --data "$W/data" --board press-7 --format json | json "d.get('warning', '')" | grep -q -- "$1" || fail "round $round: a token does not say '$1'"; }
works
until_true $LONG is_delivered || fail "the books do not close: $(books press-7)"
for ((round = 1; round <= ROUNDS; round++)); do
  token_says 'is enrolled already'
  revoke --board press-7 >"$W/said" && grep -q -- '--undo' "$W/said" || fail "round $round: it is not said how it comes back: $(cat "$W/said")"
  [ $((round % 2)) = 0 ] || kill_collector
  [ "$(listed)" = press-7 ] || fail "round $round: revoked: $(listed)"
  token_says '--undo'
  until_true $LONG is_marked press-7 True || fail "round $round: the API has no mark"
  works
  until_true $LONG is_told || fail "round $round: the board is not told: $(why)"
  python "$door/good_board.py" "$other" "127.0.0.1:$A" 1 >"$W/good" 2>&1 || fail "round $round: the other board: $(tail -n 1 "$W/good")"
  refused 'the nearest is press-7' --undo --board pres-7
  refused 'the nearest is press-[78]' --board press-9
  (revoke --undo --board press-7 >"$W/said" 2>&1) &
  undo=$!
  is_long && [ $((round % 2)) = 1 ] || kill_collector
  wait $undo || fail "round $round: undo: $(cat "$W/said")"
  [ -z "$(listed)" ] || fail "round $round: revoked: $(listed)"
  refused 'is not revoked' --undo --board press-7
  until_true $LONG is_marked press-7 False || fail "round $round: the API has the mark"
  works
  until_true $LONG is_delivered || fail "round $round: what it kept does not come: $(books press-7), $(why)"
done
[ -z "$(lost)" ] || fail "lost on the board: $(lost)"
[ "$(lost_beside_full_rings press-7)" = 0 ] || fail "lost: $(api loss)"
[ "$(grep -c 'press-7: revocation taken back$' "$W/data/audit.log")" = $ROUNDS ] || fail "not all is audited: $(tail -n 5 "$W/data/audit.log")"
say "$ROUNDS times out and in: $(books press-7) produced, stored, dropped, pending"
