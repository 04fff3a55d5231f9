#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board with a live session is revoked: the session is closed within a minute, it cannot
# reconnect, renew or enroll again, none of its later samples is stored, and its spool is kept. The
# logs of changes and of denials contain all of it.
. "$(dirname "$0")/lib.sh"
start_collector --certificate-life 20s
enroll thief
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 10 books_are_closed thief || fail "the books do not close: $(books thief)"
is_connected() { [ "$(status --format json | json "d['uplink']['state']")" = connected ]; }
until_true 10 is_connected || fail "it is not connected"
token=$(fleetprof-collector token --data "$W/data" --board thief)
SECONDS=0
fleetprof-collector revoke --data "$W/data" --board thief || fail "revoke"
is_cut() { ! is_connected; }
until_true 60 is_cut || fail "its session goes on after a minute"
say "cut after $SECONDS s: $(status --format json | json "d['uplink']['why']")"
before=$(books thief)
run --flush-timeout 2s -- "$targets/truth" 1 >/dev/null
status --format json | json "d['uplink']['why']" | grep -q revoked || fail "the board is not told why: $(status --format json | json "d['uplink']['why']")"
read -r _ stored _ _ <<<"$before"
read -r _ stored_after _ _ < <(books thief)
[ "$stored" = "$stored_after" ] || fail "data after the revocation is stored: $before, then $(books thief)"
[ "$(status --format json | json "d['spool']['entries'] > 0")" = yes ] || fail "its spool is gone"
sleep "$(pick 0 20)" # until its certificate has expired, too
fleetprof enroll --collector "127.0.0.1:$A" --token "$token" --state "$W/again" >"$W/log" 2>&1 && fail "it enrolls again"
grep -q 'board is revoked' "$W/log" || fail "it is not told why: $(cat "$W/log")"
grep -q 'thief: revoked$' "$W/data/audit.log" || fail "the revocation is not audited"
denied() { until_true 5 grep -q "$1" "$W/data/denials.log" || fail "not in denials.log: $1: $(tail -n 3 "$W/data/denials.log")"; }
denied "door: .*revoked"
denied 'enrolment refused: board is revoked'
[ "$(cat "$W/data/renewals.log" 2>/dev/null | grep -c 'thief: certificate renewed')" -le 1 ] || fail "it renewed"
