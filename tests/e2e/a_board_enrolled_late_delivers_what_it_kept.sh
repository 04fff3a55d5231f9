#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program runs before the board is enrolled, as with new users: the samples wait, status prints
# the next step, and the running daemon delivers them once the board is enrolled.
. "$(dirname "$0")/lib.sh"
start_collector
B=$W/board-late
fleetprof run --state "$B" --verbose -- "$targets/truth" 1 >/dev/null 2>"$W/said" || fail "the program ended with $?"
grep -q "not enrolled: run fleetprof enroll" "$W/said" || fail "run does not say it: $(cat "$W/said")"
grep -q "not enrolled: run fleetprof enroll" <(status) || fail "status does not say it: $(status)"
daemon=$(cat "$B/fleetprofd.pid")
enroll late
[ "$(cat "$B/fleetprofd.pid")" = "$daemon" ] || fail "another daemon runs now"
until_true 10 books_are_closed late || fail "the books do not close: $(api loss)"
read -r produced stored dropped pending < <(books late)
[ "$dropped" = 0 ] && [ "$stored" -gt 50 ] || fail "lost: $(api loss)"
say "produced $produced stored $stored"
