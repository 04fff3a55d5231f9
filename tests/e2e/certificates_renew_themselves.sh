#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Certificates of six seconds: a board renews at half of their life and loses no samples by that. A
# board that reconnects after its certificate has expired renews it with its key and delivers its
# spool.
. "$(dirname "$0")/lib.sh"
start_collector --certificate-life 6s
enroll steady
cp "$B/board.pem" "$W/first.pem"
has_renewed() { grep -q 'steady: certificate renewed$' "$W/data/renewals.log"; }
run -- "$targets/truth" 5 >/dev/null || fail "the program ended with $?"
until_true 10 has_renewed || fail "steady does not renew: $(tail -n 3 "$W/data/renewals.log")"
until_true 5 books_are_closed steady || fail "steady: the books do not close: $(books steady)"
cmp -s "$B/board.pem" "$W/first.pem" && fail "steady still has its first certificate"
read -r produced stored dropped pending < <(books steady)
[ "$dropped" = 0 ] && [ "$produced" = "$stored" ] || fail "steady lost samples while it renewed: $(books steady)"
say "renewed under way, $stored of $produced samples stored"

# The certificate runs out while no daemon is there.
daemon=$(cat "$B/fleetprofd.pid")
kill "$daemon" && until_true 5 is_gone "$daemon" || fail "the daemon does not end"
ends=$(date -d "$(openssl x509 -in "$B/board.pem" -noout -enddate | cut -d= -f2)" +%s)
while [ "$(date +%s)" -le "$ends" ]; do sleep 0.2; done
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 5 books_are_closed steady || fail "steady, expired: the books do not close: $(books steady)"
grep -q 'steady: certificate renewed after it had expired' "$W/data/renewals.log" || fail "the expired certificate was not renewed: $(tail -n 3 "$W/data/renewals.log")"
read -r produced2 stored dropped pending < <(books steady)
[ "$dropped" = 0 ] && [ "$produced2" -gt "$produced" ] && [ "$produced2" = "$stored" ] || fail "steady lost samples: $(books steady)"
! grep -q renewed "$W/data/audit.log" || fail "a renewal is among the changes: $(tail -n 3 "$W/data/audit.log")"
say "renewed after it had expired, $stored of $produced2 samples stored"
