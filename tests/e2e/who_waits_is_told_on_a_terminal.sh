#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Operations longer than a second show on a terminal what they wait for and how long, and erase that
# when done. stdout has only the answer; a pipe or a terminal that cannot erase shows no progress.
. "$(dirname "$0")/lib.sh"
export FLEETPROF_CONFIG= TERM=vt100
erase=$(printf '\r\033[K')
# told NAME WORDS COMMAND...: on a terminal COMMAND shows WORDS and seconds, and nothing of it
# stays.
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
# silent NAME COMMAND...: to a pipe, and with TERM=dumb, the same prints no progress.
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
told diff "diff: waiting for $http" fleetprof diff truth other --http "$http"
silent diff fleetprof diff truth other --http "$http"
told list "upload: waiting for $http" fleetprof upload "$targets/truth" --http "$http"

# A report with slow names.
fleetprof run --output "$W/truth.fp" -- "$targets/truth" 0.5 >"$W/truth.log" || fail "truth ended with $?"
told report 'report: translating truth' fleetprof report "$W/truth.fp" --translator 'sleep 2.3; exec cat'
silent report fleetprof report "$W/truth.fp" --translator 'sleep 2.3; exec cat'

# An enrolment at a port that accepts and sends nothing.
start_collector
token=$(fleetprof-collector token --data "$W/data" --board late) || fail "a token"
/usr/bin/python3 - "$W/door" <<'END' &
import socket, sys, threading, time
door = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(f"{door.getsockname()[1]}\n")
def leave(visitor):
    time.sleep(2.6)
    visitor.close()
while True: threading.Thread(target=leave, args=(door.accept()[0],)).start()
END
started+=($!)
until_true 10 test -s "$W/door" || fail "no door"
door=127.0.0.1:$(cat "$W/door")
told enroll "enroll: waiting for $door" fleetprof enroll --collector "$door" --token "$token" --state "$W/board-late"
silent enroll fleetprof enroll --collector "$door" --token "$token" --state "$W/board-late"

# Bars: where each file takes its time to be opened.
if strace -o /dev/null true 2>/dev/null; then
  slowly() { strace -f -e trace=openat -e inject=openat:delay_enter=30000 -o "$W/calls" "$@"; }
  export -f slowly && export W
  # barred NAME WORDS COMMAND...: on a terminal COMMAND shows a bar with WORDS, and nothing of it stays; a pipe gets none.
  barred() {
    local name=$1 words=$2
    shift 2
    OUT=$W/$name.out /usr/bin/python3 "$(dirname "$0")/on_terminal.py" 120 bash -c 'slowly "$@"' slowly "$@" >"$W/$name" || fail "$name ended with $?: $(cat -v "$W/$name")"
    grep -cE "$erase\[[#.]+\] .*$words" "$W/$name" >/dev/null || fail "$name: no bar of '$words': $(cat -v "$W/$name")"
    /usr/bin/python3 -c '
import sys
last = open(sys.argv[1], "rb").read().rsplit(b"\r\x1b[K", 1)[1]
if b"#" in last or b"[." in last: sys.exit(repr(last))' "$W/$name" || fail "$name: the bar stays"
    ! grep -cE '\[[#.]+\]' "$W/$name.out" >/dev/null || fail "$name: stdout has it"
  }
  enroll here
  run --service truth --hz 250 -- "$targets/truth" 0.5 >/dev/null || fail "truth"
  fleetprof-collector token --data "$W/data" --role symbols >"$W/token" || fail "a token of symbols"
  mkdir "$W/files" && cp "$targets"/* "$W/files" 2>/dev/null
  barred upload '[0-9]+/[0-9]+ files, ' fleetprof upload "$W/files" --http "http://127.0.0.1:$H" --token-file "$W/token"
  barred backup 'backup: [0-9]+ of [0-9]+ MiB' fleetprof-collector backup --data "$W/data" "$W/backup.tar"
  barred restore 'restore: [0-9]+ of [0-9]+ MiB' fleetprof-collector restore "$W/backup.tar" --data "$W/restored"
  barred check 'check: [0-9]+ of [0-9]+ MiB ' fleetprof-collector check --data "$W/restored"
  for command in backup restore check; do
    grep -oE 'of [0-9]+ MiB' "$W/$command" | sort -u | head -n 1 | grep -q 'of [1-9]' || fail "$command: bytes of nothing: $(cat -v "$W/$command")"
  done
else
  without "bars of upload, backup, restore and check" "strace may not be used here"
fi
say "$(cat "$W/query" "$W/report" | grep -oE '[0-9]+ s' | wc -l) words on waiting"
