#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A collector queries other servers for debug files only if configured, only for modules that no
# board can name, and not twice. It accepts them from debuginfod, from another collector, and after
# a redirect, without a Content-Length too. An unreachable server delays nothing: it is skipped for
# a while.
. "$(dirname "$0")/lib.sh"
mkdir -p "$W/debug" "$W/other"
program() {
  printf 'static __attribute__((noinline)) int work_of_%s(volatile int *n) { for (int i = 0; i < 60000000; i++) *n ^= i; return *n; }\nint main(void) { volatile int n = 0; return work_of_%s(&n) == 1; }\n' "$1" "$1" >"$W/$1.c"
  gcc -g -O1 -Wl,--build-id -o "$W/$1" "$W/$1.c" || fail "gcc"
  objcopy --only-keep-debug "$W/$1" "$2/$1.debug"
  objcopy --strip-all "$W/$1"
}
program first "$W/debug"
program second "$W/other"
program third "$W" # no server has its debug file
mkdir "$W/moved"
program fourth "$W/moved"

# A server that logs its requests, and has no files.
spy=$(port)
cat >"$W/spy.py" <<'END'
import http.server, sys
class Spy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, form, *words):
        with open(sys.argv[2], "a") as f: f.write(self.path + "\n")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Spy).serve_forever()
END
cat >"$W/mover.py" <<'END'
import http.server, sys
class Mover(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path.startswith("/buildid/" + sys.argv[3] + "/"):
            self.send_response(302); self.send_header("Location", "/elsewhere?key=1"); self.send_header("Content-Length", "0"); self.end_headers()
        elif self.path == "/elsewhere?key=1":
            self.send_response(200); self.send_header("Transfer-Encoding", "chunked"); self.end_headers()
            with open(sys.argv[2], "rb") as f:
                while piece := f.read(1000):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        else: # in a circle
            self.send_response(307); self.send_header("Location", self.path); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, form, *words): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Mover).serve_forever()
END
mover=$(port)
/usr/bin/python3 "$W/mover.py" "$mover" "$W/moved/fourth.debug" "$(readelf -n "$W/fourth" 2>/dev/null | awk '/Build ID/ { print $3 }')" &
started+=($!)
# Hangs up on everybody, and counts them.
dead=$(port)
/usr/bin/python3 -c 'import socket, sys
door = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    door.accept()[0].close()
    with open(sys.argv[2], "a") as f: f.write("x\n")' "$dead" "$W/hung-up" &
started+=($!)
touch "$W/asked"
/usr/bin/python3 "$W/spy.py" "$spy" "$W/asked" &
started+=($!)

# Not configured: no query is sent, whatever DEBUGINFOD_URLS contains.
export DEBUGINFOD_URLS=http://127.0.0.1:$spy
start_collector
enroll board1
run --service first --hz 999 -- "$W/first" >/dev/null || fail "first ended with $?"
run --service second --hz 999 -- "$W/second" >/dev/null || fail "second ended with $?"
run --service third --hz 999 -- "$W/third" >/dev/null || fail "third ended with $?"
run --service fourth --hz 999 -- "$W/fourth" >/dev/null || fail "fourth ended with $?"
refused() { [ "$(api debug | json "sum(1 for m in d['modules'] if m['path'] in ('$W/first', '$W/second', '$W/third') and m['wanted'] and m['quality'] != 'none')")" = 3 ]; }
until_true 10 refused || fail "the boards' files are not here: $(api debug)"
sleep 2.5
[ ! -s "$W/asked" ] || fail "asked without being told to: $(cat "$W/asked")"
stop_collector

# Another collector has the second program's file, debuginfod the first one's.
other=$(port)
fleetprof-collector --data "$W/other-data" --agents "127.0.0.1:$(port)" --http "127.0.0.1:$other" >>"$W/collector.log" 2>&1 &
started+=($!)
until_true 10 curl -fs -o "$W/ready" "http://127.0.0.1:$other/readyz" || fail "the other collector is not ready"
fleetprof-collector token --data "$W/other-data" --role symbols >"$W/token"
fleetprof upload "$W/other" --http "http://127.0.0.1:$other" --token-file "$W/token" >"$W/out" 2>&1 || fail "upload: $(cat "$W/out")"
urls="http://127.0.0.1:$dead http://127.0.0.1:$spy http://127.0.0.1:$mover http://127.0.0.1:$other"
names="second fourth"
if command -v debuginfod >/dev/null; then
  server=$(port)
  env -u DEBUGINFOD_URLS debuginfod -p "$server" -d "$W/debuginfod.sqlite" -F "$W/debug" >"$W/debuginfod.log" 2>&1 &
  started+=($!)
  id=$(readelf -n "$W/first" 2>/dev/null | awk '/Build ID/ { print $3 }')
  until_true 20 curl -fs -o "$W/ready" "http://127.0.0.1:$server/buildid/$id/debuginfo" || fail "debuginfod does not serve: $(tail -n 3 "$W/debuginfod.log")"
  urls="$urls http://127.0.0.1:$server"
  names="first second fourth"
else
  without debuginfod "package debuginfod"
fi
collector_up --debuginfod "$urls"
named() { profile "{service=\"$1\"}" | json "any(f['name'] == 'work_of_$1' and f['self'] > 0 for f in d['functions'])" | grep -q yes; }
for name in $names; do
  until_true 15 named $name || fail "$name is not named: $(profile "{service=\"$name\"}")"
done
asked_for_third() { grep -q "$(readelf -n "$W/third" 2>/dev/null | awk '/Build ID/ { print $3 }')" "$W/asked"; }
until_true 10 asked_for_third || fail "nobody was asked for the third"
for name in first second third; do
  id=$(readelf -n "$W/$name" 2>/dev/null | awk '/Build ID/ { print $3 }')
  [ "$(grep -c "$id/debuginfo" "$W/asked")" = 1 ] || fail "$name was asked for $(grep -c "$id" "$W/asked") times"
done
[ "$(wc -l <"$W/hung-up")" = 1 ] || fail "a dead server was asked $(wc -l <"$W/hung-up") times"
# Found files are kept; missing files are not queried again after a restart.
lines=$(wc -l <"$W/asked")
stop_collector
collector_up --debuginfod "$urls"
sleep 2.5
[ "$(wc -l <"$W/asked")" = "$lines" ] || fail "asked again: $(tail -n 2 "$W/asked")"
say "$lines questions: $(sort "$W/asked" | uniq | wc -l) of them different"
fleetprof-collector --data "$W/x" --debuginfod 'ftp://x/' 2>"$W/err"
[ $? = 2 ] || fail "a bad URL is no wrong usage: $(cat "$W/err")"
