#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clocks an hour off, in 1970, 2038 and 2106, leap seconds, timestamps of any time: every window is
# placed by one documented rule (door/clocks.py), within the possible days, and beside an honest
# board whose data stays in its place.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/door
start_collector --retention 0
enroll evil && evil=$B
enroll good
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$B" "127.0.0.1:$A" 2 >"$W/good" || fail "the honest board"
sent=$(awk '$1 == "acks" { print $2 }' "$W/good")
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/clocks.py" "$evil" "127.0.0.1:$A" "http://127.0.0.1:$H" "$(pick 35 400)" || fail "a clock was believed"
kept=$(api profile -d from=-10m --data-urlencode 'match={board="good"}' | json "d['samples']")
[ "$kept" = "$sent" ] || fail "of the honest board's $sent samples $kept are where they were"
