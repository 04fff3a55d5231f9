#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Another process locks the database of tokens and boards for some seconds, as a backup or an
# operator's tool may. Known and new tokens are answered meanwhile, batches are acked, and the last
# use is written afterwards.
. "$(dirname "$0")/lib.sh"
start_collector
enroll one
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 10 books_are_closed one || fail "the books do not close: $(books one)"
token=$(fleetprof-collector token --data "$W/data" --role read) || fail "no token"
other=$(fleetprof-collector token --data "$W/data" --role read) || fail "no token"
late=$(fleetprof-collector token --data "$W/data" --board late) || fail "no token"
ask() { curl -fsm 2 -o "$W/answer" -w '%{time_total}' -H "Authorization: Bearer $1" "http://127.0.0.1:$H/api/v1/boards"; }
ask "$token" >/dev/null || fail "the token is not taken: $(cat "$W/answer")"
/usr/bin/python3 - "$W/data/access.db" "$W/locked" 20 <<'END' &
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
open(sys.argv[2], "w").close()
time.sleep(float(sys.argv[3]))
database.execute("ROLLBACK")
END
keeper=$!
started+=($keeper)
until_true 5 test -e "$W/locked" || fail "the database is not locked"
# This one waits for the lock, for five seconds, while it holds the collector's own connection.
late() { fleetprof enroll --collector "127.0.0.1:$A" --token "$late" --state "$W/late" >"$W/late.log" 2>&1; }
late &
started+=($!)
sleep 0.3
for try in 1 2 3; do
  took=$(ask "$token") || fail "a token that is known is not answered while the database is locked"
done
[ "$(curl -sm 2 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$H/healthz")" = 200 ] || fail "the loop hangs"
say "answered in $took s while the database is locked"
read -r before _ < <(books one)
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
is_stored() { books_are_closed one && [ "$(books one | cut -d' ' -f1)" -gt "$before" ]; }
until_true 12 is_stored || fail "batches wait for the database: $(books one)"
kill -0 $keeper 2>/dev/null || fail "the lock was gone before the end of it"
took=$(curl -fsm 15 -o "$W/answer" -w '%{time_total}' -H "Authorization: Bearer $other" "http://127.0.0.1:$H/api/v1/boards") || fail "a token that is new is not answered while the database is locked"
say "a new one in $took s"
wait $keeper
late || fail "who could not enroll meanwhile cannot afterwards: $(cat "$W/late.log")"
used() { [ "$(/usr/bin/python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(used_s) FROM tokens WHERE role = ?", ("read",)).fetchone()[0])' "$W/data/access.db")" = 2 ]; }
until_true 25 used || fail "the last use of the tokens is not written"
