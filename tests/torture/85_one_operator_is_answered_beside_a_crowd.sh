#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Thirty-six web pages of other sites make a local browser query the whole fleet. As many clients of
# one token query it and disconnect. A dashboard uses the same token, and a board has used up its
# default quota of nodes. Beside all of them an operator gets each answer. Every page is refused,
# every query of a client that disconnected is abandoned or answered, and nothing waits at the end.
# Answers about the fleet read no more of that board than permitted. In the long form 99 % of labels
# and of one board's profile arrive within a second; the short form, which runs beside other tests,
# does not check times.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../e2e/queries.sh"
PAGES=36
SLOW_MS=1000
start_collector
for board in edge bomb; do
  enroll $board
  [ $board = edge ] && python "$door/good_board.py" "$B" "127.0.0.1:$A" 1 >"$W/good" 2>&1
  [ $board = edge ] || python "$door/stacks.py" "$B" "127.0.0.1:$A" "$(pick 80000 500000)" >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
done
[ -s "$W/good" ] || fail "no small board"
token=$(fleetprof-collector token --data "$W/data" --role read) || fail "no token"
curl -fs -m $LONG -o /dev/null -H "Authorization: Bearer $token" "http://127.0.0.1:$H/api/v1/labels" || fail "the token is not taken"
python "$door/crowd.py" "$H" "$token" 0 1 edge >"$W/alone" || fail "the operator is not answered"
python "$door/crowd.py" "$H" "$token" $PAGES "$(pick 5 60)" edge $PAGES >"$W/beside" || fail "the operator is not answered beside a crowd"
grep -qxE 'pages 401: [0-9]+' "$W/beside" || fail "pages of other sites: $(grep pages "$W/beside")"
until_true $LONG are_asked 0 || fail "$(metric fleetprof_queries_waiting) wait and $(metric fleetprof_queries_running) run for nobody"
left=$(awk '$1 == "left" { print $2 }' "$W/beside") abandoned=$(metric fleetprof_http_abandoned_requests_total)
[ "$abandoned" -gt 0 ] && [ "$abandoned" -le "$left" ] || fail "$abandoned of $left were given up"
for row in labels profile; do
  read -r _ count median longest _ < <(grep "^$row" "$W/beside")
  read -r _ _ _ alone _ < <(grep "^$row" "$W/alone")
  ! is_long || [ "$longest" -lt $SLOW_MS ] || fail "$row: 99 % within $longest ms beside the crowd, $alone ms alone"
  say "$row: $count, median $median, 99 % within $longest ms, alone $alone ms"
done
curl -fsG -m $LONG "http://127.0.0.1:$H/api/v1/profile" -d from=-1d -d limit=5 >"$W/fleet" || fail "the fleet is not answered"
[ "$(json "'one board' in d.get('rest_hint', '') and sum(f['self'] for f in d['functions']) + d['rest']['weight'] == d['total']" <"$W/fleet")" = yes ] || fail "the fleet: $(head -c 300 "$W/fleet")"
say "$(grep pages "$W/beside"); $abandoned of $left questions were given up"
