#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names from archives, from a damaged database and from the collector reach a terminal without what it would obey: escape
# sequences, controls of one and two bytes, marks that turn the direction of writing.  As JSON they are whole, and escaped.
# A file is never written through another user's link.
. "$(dirname "$0")/lib.sh"
is_clean() { # is_clean FILE: of line ends, tabs, and what can be printed alone
  /usr/bin/python3 - "$1" <<'P'
import re, sys
text = open(sys.argv[1], "rb").read().decode()
sys.exit(1 if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text) else 0)
P
}
/usr/bin/python3 - "$W/image.tar" "$targets/truth" <<'P'
import sys, tarfile
out = tarfile.open(sys.argv[1], "w", format=tarfile.PAX_FORMAT)
for i, mark in enumerate(("\x1b[2J\x1b]0;title\x07", "\u202egnp.exe", "\u2066", "\x9b31m", "two\nlines", "\r0 files")):
    out.add(sys.argv[2], f"bin/{i}{mark}truth")
P
fleetprof upload --dry-run "$W/image.tar" >"$W/out" 2>"$W/err" || fail "upload --dry-run ended with $?: $(cat -v "$W/err")"
is_clean "$W/out" && is_clean "$W/err" || fail "a terminal would obey: $(cat -v "$W/out" "$W/err")"
[ "$(grep -c 'truth  ' "$W/out")" = 6 ] || fail "not a line a file: $(cat -v "$W/out")"
fleetprof upload --dry-run --format json "$W/image.tar" >"$W/out" || fail "upload --format json ended with $?"
is_clean "$W/out" || fail "JSON that a terminal would obey: $(cat -v "$W/out")"
[ "$(json "sum(any(c in f['name'] for c in '\x1b\u202e\u2066\x9b\n\r') for f in d['files'])" <"$W/out")" = 6 ] || fail "the names are not whole: $(cat "$W/out")"

# What SQLite says of a database repeats the names in it.
start_collector
enroll one
stop_collector
/usr/bin/python3 - "$W/data/access.db" <<'P'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA writable_schema=ON")
database.execute("INSERT INTO sqlite_master VALUES('table', ?, 'x', 0, 'CREATE nonsense')", ("\x1b[2J\x9b31m\u202eevil",))
database.commit()
P
for command in "" "check" "revoke --list" "token"; do
  # shellcheck disable=SC2086
  timeout 20 fleetprof-collector $command --data "$W/data" >"$W/out" 2>&1 && fail "'$command' of a damaged database ended with 0: $(cat -v "$W/out")"
  is_clean "$W/out" || fail "'$command': a terminal would obey: $(cat -v "$W/out")"
done

# What a collector refuses a board with, and what it has in its answers.
/usr/bin/python3 - "$W/answer-port" <<'P' &
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = '{"type":"about:blank","title":"\x1b[2J","status":400,"detail":"\u202eno \x9b31m"}'.replace("\x1b", "\\u001b").encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
open(sys.argv[1] + ".new", "w").write(str(server.server_port))
import os; os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
P
started+=($!)
until_true 10 test -s "$W/answer-port" || fail "no server"
fleetprof query --http "http://127.0.0.1:$(cat "$W/answer-port")" >"$W/out" 2>&1 && fail "a refused question ended with 0"
grep -q 'no ' "$W/out" && is_clean "$W/out" || fail "query: $(cat -v "$W/out")"

# Links of another user: in the last place, on the way, in the place of .old; of whatever command.
if [ "$(id -u)" != 0 ] || ! setpriv --reuid="$ordinary" true 2>/dev/null; then
  without links "there is nobody else to lay them (root is needed)"
  exit 0
fi
mkdir -m 1777 "$W/all" && mkdir "$W/own" && chmod 711 "$W"
as_ordinary ln -s "$W/own/precious" "$W/all/p.fp"
as_ordinary ln -s "$W/own" "$W/all/folder"
as_ordinary ln -s "$W/own/precious" "$W/all/q.fp.old"
refused() { # refused COMMAND...
  "$@" >"$W/out" 2>"$W/err" && fail "$*: writes through another user's link"
  grep -q "another user" "$W/err" || fail "$*: $(cat "$W/err")"
  [ -z "$(ls "$W/own")" ] || fail "$*: made $(ls "$W/own")"
}
refused fleetprof run --output "$W/all/p.fp" -- true
refused fleetprof run --output "$W/all/folder/p.fp" -- true
fleetprof run --output "$W/all/q.fp" -- "$targets/truth" .2 >/dev/null || fail "a file of one's own: $?"
refused fleetprof run --output "$W/all/q.fp" -- true
as_ordinary sh -c ": >$W/all/his.fp; chmod 666 $W/all/his.fp"
refused fleetprof run --output "$W/all/his.fp" -- true
refused fleetprof report "$W/all/q.fp" --format folded --output "$W/all/p.fp"
refused fleetprof report "$W/all/q.fp" --format folded --output "$W/all/folder/x"
ln -s "$W/own" "$W/all/mine"
fleetprof report "$W/all/q.fp" --format folded --output "$W/all/mine/folded" && [ -s "$W/own/folded" ] || fail "a link of one's own is not followed"
fleetprof report "$W/all/q.fp" --format folded --output /dev/stderr 2>"$W/err" && cmp -s "$W/err" "$W/own/folded" || fail "/dev/stderr is not written"
