#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A name that belongs to no board is not revoked, and the nearest name is suggested. A revoked board
# is shown as such in the list, in the API and on the board itself, with the remedy. After that
# remedy it connects again and delivers its spool.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/revocations.sh"
start_collector
enroll press-7
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 20 books_are_closed press-7 || fail "the books do not close: $(books press-7)"
refused 'no board of that name has ever been here; the nearest is press-7 (--force' --board pres-7
refused 'press-7: is not revoked (' --undo --board press-7
refused 'stands alone' --list --board press-7
refused 'one of the two' --undo --force --board press-7
[ -z "$(listed)" ] || fail "revoked: $(listed)"
fleetprof-collector token --data "$W/data" --board press-7 >"$W/out" 2>"$W/err" || fail "no token"
grep -qx 'fpt_[^ ]*' "$W/out" && grep -q 'press-7 is enrolled already' "$W/err" || fail "a token for a board that is here: $(cat "$W/out" "$W/err")"
fleetprof-collector token --data "$W/data" --board press-8 >/dev/null 2>"$W/err" && [ ! -s "$W/err" ] || fail "a token for a new board: $(cat "$W/err")"

revoke --board press-7 | grep -q -- '--undo takes that back' || fail "it is not said how it comes back"
revoke --board press-7 | grep -q 'was revoked .*Z, and stays so' || fail "a second time"
[ "$(listed)" = press-7 ] || fail "revoked: $(listed)"
revoke --list | tail -n 1 | grep -q 'Z *press-7$' || fail "as text: $(revoke --list)"
fleetprof-collector token --data "$W/data" --board press-7 --format json | json 'd["warning"]' | grep -q 'press-7 was revoked .*--undo' || fail "a token for a revoked board"
until_true 30 is_marked press-7 True || fail "the API has no mark: $(api boards)"
until_true 60 is_told || fail "the board is not told: $(why)"
is_failed() { fleetprof doctor --state "$B" 2>/dev/null | grep -A 2 revoked | grep -q -- 'revoke --undo'; }
is_failed || fail "doctor does not say how it comes back: $(fleetprof doctor --state "$B" | grep -A 2 -i uplink)"
read -r before _ < <(books press-7)
run --flush-timeout 1s -- "$targets/truth" 1 >/dev/null
kill "$(cat "$B/fleetprofd.pid")"

refused 'no board of that name has ever been here; the nearest is press-7 (revoke --list' --undo --board press-6
revoke --undo --board press-7 | grep -q 'press-7 may come in again' || fail "undo"
[ -z "$(listed)" ] || fail "revoked: $(listed)"
grep -q 'press-7: revocation taken back$' "$W/data/audit.log" || fail "it is not audited: $(tail -n 2 "$W/data/audit.log")"
until_true 30 is_marked press-7 False || fail "the API has the mark: $(api boards)"
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
has_delivered() { books_are_closed press-7 && [ "$(books press-7 | cut -d' ' -f1)" -gt "$before" ]; }
until_true 60 has_delivered || fail "what it kept does not come: $(books press-7), before $before"

# A name of nowhere, by force, and forgotten again.
revoke --force --board ghost >/dev/null && [ "$(listed)" = ghost ] || fail "by force: $(listed)"
[ "$(revoke --undo --board ghost --format json | json "d == {'restored': 'ghost'}")" = yes ] || fail "undone"
refused 'no board of that name' --board ghost
