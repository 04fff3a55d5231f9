#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Thirty-three heavy questions fill all places, and whoever asked closes the connection, by a reset or in peace: none of them
# runs to its end, and the next question is answered.  Together they would take minutes (of how long one takes the script tells).
# Web pages of other sites are refused with the reason; who has half-closed still gets the answer; a share of the places is
# everybody's.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/../torture/door
STACKS=300000
QUESTIONS=33 # one runs, 32 wait
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$@"; }
start_collector --board-nodes 0
enroll wide
python "$door/stacks.py" "$B" "127.0.0.1:$A" $STACKS >"$W/stacks" 2>&1 || fail "$(tail -n 1 "$W/stacks")"
metric() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }
heavy="/api/v1/profile?from=-1d&format=folded"
# ask.py PORT PATH COUNT close|half: asks COUNT times at once; closes all when a line comes, or ends its direction and prints the
# statuses that come.
cat >"$W/ask.py" <<'PYTHON'
import select, socket, struct, sys
port, path, count, how = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
lines = []
for _ in range(count):
    line = socket.create_connection(("127.0.0.1", port))
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    lines.append(line)
if how == "half":
    for line in lines:
        line.shutdown(socket.SHUT_WR)
    for line in lines:
        text = b""
        while more := line.recv(1 << 20):
            text += more
        heads = [head.split(b" ")[1].decode() for head in text.split(b"\r\n") if head.startswith(b"HTTP/1.1 ")]
        print(*heads, flush=True)
    sys.exit()
sys.stdin.readline()
for i, line in enumerate(lines):
    if i % 2:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()
PYTHON

# One, to its end.
begun=$(date +%s%3N)
curl -fs -m 120 -o "$W/whole" "http://127.0.0.1:$H$heavy" || fail "one question alone is not answered"
say "one takes $(($(date +%s%3N) - begun)) ms, $(stat -c %s "$W/whole") bytes"
answered() { metric 'fleetprof_http_requests_total{method="GET",route="/api/v1/profile",status="2xx"}'; }
before=$(answered)

# All at once; then they go.
mkfifo "$W/go"
python "$W/ask.py" "$H" "$heavy" $QUESTIONS close <"$W/go" &
asker=$!
started+=($asker)
exec 7>"$W/go"
are_all_asked() { [ $(($(metric fleetprof_queries_waiting) + $(metric fleetprof_queries_running) + $(answered) - before)) -ge $QUESTIONS ]; }
until_true 60 are_all_asked || fail "only $(metric fleetprof_queries_waiting) wait"
echo go >&7
wait $asker
are_all_gone() { [ "$(metric fleetprof_queries_running)" = 0 ] && [ "$(metric fleetprof_queries_waiting)" = 0 ]; }
until_true 20 are_all_gone || fail "whoever asked is gone: $(metric fleetprof_queries_waiting) still wait, $(metric fleetprof_queries_running) run"
[ $(($(metric fleetprof_http_abandoned_requests_total) + $(answered) - before)) = $QUESTIONS ] || fail "$(metric fleetprof_http_abandoned_requests_total) were abandoned"
[ $(($(answered) - before)) -lt $((QUESTIONS / 2)) ] || fail "$(answered) ran to their end"
curl -fs -m 20 -o /dev/null "http://127.0.0.1:$H/api/v1/labels" || fail "the next question is not answered"
say "$(metric fleetprof_http_abandoned_requests_total) of $QUESTIONS were given up"

# Who has half-closed is asked whether it still reads, and gets its answer.
python "$W/ask.py" "$H" "$heavy" 1 half >"$W/half"
grep -qE '^(100 )?200$' "$W/half" || fail "half-closed: $(cat "$W/half")"

# Pages of other sites.
from_page() { curl -s -m 20 -o "$W/answer" -w '%{http_code}' "http://127.0.0.1:$H$1" "${@:2}"; }
[ "$(from_page "$heavy" -H 'Sec-Fetch-Site: cross-site')" = 401 ] || fail "a page of another site is answered: $(head -c 300 "$W/answer")"
json "d['detail']" <"$W/answer" | grep -q "web page of another site" || fail "not said why: $(cat "$W/answer")"
[ "$(from_page /api/v1/labels -H 'Origin: https://example.org')" = 401 ] || fail "a foreign origin is answered"
[ "$(from_page /api/v1/labels -H 'Sec-Fetch-Site: same-origin' -H "Origin: http://127.0.0.1:$H")" = 200 ] || fail "our own page is not answered"
[ "$(from_page / -H 'Sec-Fetch-Site: cross-site')" = 200 ] || fail "a link to the page does not work"
token=$(fleetprof-collector token --data "$W/data" --role read) || fail "no token"
[ "$(from_page /api/v1/labels -H 'Sec-Fetch-Site: cross-site' -H "Authorization: Bearer $token")" = 200 ] || fail "a token is not enough"
