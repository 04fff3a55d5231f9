#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fair.sh: how soon one operator is answered beside PAGES (36) web pages of other sites, each of which makes a browser on this machine ask for the whole fleet again
# and again, and beside a board that has used up its default quota of nodes (NODES, 500 000), of which a dashboard with a token shows the whole fleet every
# second, and LEAVERS (0) clients with its token that ask for the whole fleet and go.  Prints, of SECONDS (60): median, 99 % and longest of `labels`, of the profile of one service, and of the whole fleet, first without pages and dashboard.
# The aim: 99 % of the first two within 1 s.  FLEETPROF_PREFIX: an installed release, or figures mean nothing.
. "$(dirname "$0")/../e2e/lib.sh"
door=$(dirname "$0")/../torture/door
NODES=${NODES:-500000} PAGES=${PAGES:-36} LEAVERS=${LEAVERS:-0} SECONDS_EACH=${SECONDS_EACH:-60}
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
start_collector --board-nodes 0
for board in bomb edge-1 edge-2; do
  enroll $board
  [ $board = bomb ] || python "$door/stacks.py" "$B" "127.0.0.1:$A" 5000 >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
done
python "$door/stacks.py" "$W/board-bomb" "127.0.0.1:$A" "$NODES" >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
python "$door/good_board.py" "$W/board-edge-1" "127.0.0.1:$A" 2 >"$W/good" 2>&1 || fail "$(tail -n 1 "$W/good")"
stop_collector
collector_up
token=$(fleetprof-collector token --data "$W/data" --role read) || fail "no token"
told() { # told FILE: the operator's figures
  awk '$1 == "pages" || $1 == "left" { print "  " $0; next }
    { printf "  %s: %d answers, median %d, 99 %% within %d, longest %d ms\n", $1, $2, $3, $4, $5 }' "$1"
}
say "alone:"
python "$door/crowd.py" "$H" "$token" 0 10 edge-1 >"$W/alone" || fail "the operator is not answered"
told "$W/alone"
say "beside $PAGES pages and a dashboard:"
python "$door/crowd.py" "$H" "$token" "$PAGES" "$SECONDS_EACH" edge-1 "$LEAVERS" >"$W/beside" || fail "the operator is not answered"
told "$W/beside"
