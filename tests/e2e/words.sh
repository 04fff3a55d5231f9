# SPDX-License-Identifier: Apache-2.0
# Sourced after lib.sh by tests of words of others that reach a terminal, and of links that others have laid.
is_clean() { # is_clean FILE: it has only line ends, tabs and printable characters
  /usr/bin/python3 - "$1" <<'P'
import re, sys
text = open(sys.argv[1], "rb").read().decode()
sys.exit(1 if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text) else 0)
P
}
# hostile_image FILE: an archive with six copies of `truth` under names that a terminal would obey.
hostile_image() {
  /usr/bin/python3 - "$1" "$targets/truth" <<'P'
import sys, tarfile
out = tarfile.open(sys.argv[1], "w", format=tarfile.PAX_FORMAT)
for i, mark in enumerate(("\x1b[2J\x1b]0;title\x07", "\u202egnp.exe", "\u2066", "\x9b31m", "two\nlines", "\r0 files")):
    out.add(sys.argv[2], f"bin/{i}{mark}truth")
P
}
# damage_database FILE: SQLite cannot read it, and its message contains a name of that kind.
damage_database() {
  /usr/bin/python3 - "$1" <<'P'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA writable_schema=ON")
database.execute("INSERT INTO sqlite_master VALUES('table', ?, 'x', 0, 'CREATE nonsense')", ("\x1b[2J\x9b31m\u202eevil",))
database.commit()
P
}
# hostile_answers: a collector that rejects each query with such words, at $ANSWERS.
hostile_answers() {
  /usr/bin/python3 - "$W/answer-port" <<'P' &
import http.server, os, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = '{"type":"about:blank","title":"\x1b[2J","status":400,"detail":"\u202eno \x9b31m"}'.replace("\x1b", "\\u001b").encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_HEAD = do_PUT = do_POST = do_GET
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
open(sys.argv[1] + ".new", "w").write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
P
  started+=($!)
  until_true 60 test -s "$W/answer-port" || fail "no server"
  ANSWERS=http://127.0.0.1:$(cat "$W/answer-port")
}
# lay_links: makes links of another user to $W/own in $W/all, a world-writable folder: in the last
# place, on the way, and in the place of .old. False if there is no other user to make them.
lay_links() {
  [ "$(id -u)" = 0 ] && setpriv --reuid="$ordinary" true 2>/dev/null || return 1
  mkdir -m 1777 "$W/all" && mkdir "$W/own" && chmod 711 "$W"
  as_ordinary ln -s "$W/own/precious" "$W/all/p.fp"
  as_ordinary ln -s "$W/own" "$W/all/folder"
  as_ordinary ln -s "$W/own/precious" "$W/all/q.fp.old"
}
refused_link() { # refused_link COMMAND...: it writes through none, and names the link's owner
  "$@" >"$W/out" 2>"$W/err" && fail "$*: writes through another user's link"
  grep -q "another user" "$W/err" || fail "$*: $(cat "$W/err")"
  [ -z "$(ls "$W/own")" ] || fail "$*: made $(ls "$W/own")"
}
