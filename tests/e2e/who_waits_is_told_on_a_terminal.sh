#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes longer than a second says on a terminal what it waits for and how long, and takes that away when it is done;
# stdout has the answer alone, and a pipe or a terminal that cannot erase is told nothing.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_CONFIG= TERM=vt100
erase=$(printf '\r\033[K')
# told NAME WORDS COMMAND...: on a terminal COMMAND shows WORDS and seconds, and nothing of it stays.
told() {
  local name=$1 words=$2
  shift 2
  OUT=$W/$name.out /usr/bin/python3 "$(dirname "$0")/on_terminal.py" 80 "$@" >"$W/$name" || :
  grep -cF "$erase$words" "$W/$name" >/dev/null && grep -cE "$words.* [1-9][0-9]* s" "$W/$name" >/dev/null || fail "$name: no '$words': $(cat -v "$W/$name")"
  /usr/bin/python3 -c '
import sys
last = open(sys.argv[1], "rb").read().rsplit(b"\r\x1b[K", 1)[1]
if sys.argv[2].encode() in last: sys.exit(repr(last))' "$W/$name" "$words" || fail "$name: the line stays"
  ! grep -cF "$words" "$W/$name.out" >/dev/null || fail "$name: stdout has it"
}
# silent NAME COMMAND...: to a pipe, and where TERM is dumb, the same says nothing.
silent() {
  local name=$1
  shift
  "$@" >"$W/$name.out" 2>"$W/$name.err" || :
  TERM=dumb OUT=$W/$name.out /usr/bin/python3 "$(dirname "$0")/on_terminal.py" 80 "$@" >"$W/$name.dumb" || :
  ! grep -cE " [0-9]+ s$|$(printf '\033')" "$W/$name.err" "$W/$name.dumb" >/dev/null || fail "$name: $(cat -v "$W/$name.err" "$W/$name.dumb")"
}

# A collector that takes its time.
/usr/bin/python3 - "$W/port" <<'END' &
import http.server, sys, time
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(2.6)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
open(sys.argv[1], "w").write(f"{server.server_port}\n")
server.serve_forever()
END
started+=($!)
until_true 10 test -s "$W/port" || fail "no server"
http=http://127.0.0.1:$(cat "$W/port")
told query "query: waiting for $http" fleetprof query truth --http "$http"
grep -q 'nothing was sampled there' "$W/query.out" || fail "no answer: $(cat "$W/query.out")"
silent query fleetprof query truth --http "$http"

# A report whose names come slowly.
fleetprof run --output "$W/truth.fp" -- "$targets/truth" 0.5 >"$W/truth.log" || fail "truth ended with $?"
told report 'report: translating truth' fleetprof report "$W/truth.fp" --translator 'sleep 2.3; exec cat'
silent report fleetprof report "$W/truth.fp" --translator 'sleep 2.3; exec cat'
say "$(cat "$W/query" "$W/report" | grep -oE '[0-9]+ s' | wc -l) words on waiting"
