#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Malformed HTTP heads, selectors, times, frames and handshakes: each gets a clear answer, and the
# same collector keeps serving. Command lines: a_wrong_word_is_told_before_anything_starts.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1

http() {   # http STATUS PATTERN QUERY...
  local want=$1 pattern=$2 got
  shift 2
  got=$(curl -s -o "$W/out" -w '%{http_code} %{content_type}' -G "http://127.0.0.1:$H/api/v1/$1" "${@:2}")
  [ "$got" = "$want application/problem+json" ] || fail "$*: $got instead of $want"
  grep -qi -- "$pattern" "$W/out" || fail "$*: '$(cat "$W/out")' does not name '$pattern'"
}
http 400 match profile --data-urlencode 'match={service='
http 400 match profile --data-urlencode 'match={service=~"("}'
http 400 from profile -d from=yesterdayish
http 400 limit profile -d limit=100001
http 400 format profile -d format=magic
http 400 type profile -d type=magic
http 400 nonsense profile -d nonsense=1
http 404 nowhere nowhere
http 404 "" profile/x

raw() {   # raw TEXT: sends bytes, prints the first line of each answer
  /usr/bin/python3 - "$H" "$1" <<'P'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(5)
s.sendall(sys.argv[2].encode().decode("unicode_escape").encode("latin-1"))
answer = b""
try:
    while chunk := s.recv(65536):
        answer += chunk
except TimeoutError:
    answer += b"\nOPEN"
print(answer.count(b"HTTP/1."), answer.split(b"\r\n")[0].decode(), "OPEN" if answer.endswith(b"OPEN") else "closed")
P
}
host="Host: 127.0.0.1:$H"
for head in \
  "GET /healthz HTTP/1.1\\r\\n$host\\r\\nContent-Length: 0\\r\\nContent-Length: 5\\r\\n\\r\\nGET /healthz HTTP/1.1\\r\\n$host\\r\\n\\r\\n" \
  "GET /healthz HTTP/1.1\\r\\n$host\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n" \
  "GET /healthz HTTP/1.1\\r\\n$host\\r\\n$host\\r\\n\\r\\n" \
  "GET /healthz HTTP/1.1\\r\\n\\r\\n" \
  "GET /healthz HTTP/1.1\\n$host\\n\\n" \
  "GET /healthz HTTP/1.1\\r\\n$host\\r\\nX: a\\r\\n folded\\r\\n\\r\\n" \
  "GET /healthz HTTP/1.1\\r\\n$host\\r\\nContent-Length : 3\\r\\n\\r\\nabc" \
  "GET /healthz HTTP/1.1\\r\\n$host\\r\\nContent-Length: -1\\r\\n\\r\\n" \
  "GET /healthz HTTP/1.1\\r\\n$host\\r\\nX: a\\x00b\\r\\n\\r\\n" \
  "nonsense\\r\\n\\r\\n"; do
  got=$(raw "$head")
  case $got in "1 HTTP/1."[01]" 400 "*" closed") ;; *) fail "$head: answered '$got'" ;; esac
done
got=$(raw "GET /healthz HTTP/1.1\\r\\n$host\\r\\nContent-Length: 3\\r\\n\\r\\nabcGET /healthz HTTP/1.1\\r\\n$host\\r\\n\\r\\n")
case $got in "1 "*" closed") ;; *) fail "a request with a body keeps its connection: $got" ;; esac
[ "$(curl -s -o /dev/null -w '%{http_code}' -H 'X-Forwarded-For: 1.2.3.4' "http://127.0.0.1:$H/api/v1/boards")" = 401 ] || fail "a forwarded request needs no token"
[ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: example.org' "http://127.0.0.1:$H/api/v1/boards")" = 401 ] || fail "a foreign Host needs no token"
[ "$(curl -s -o /dev/null -w '%{http_code}' -X PUT --data-binary x "http://127.0.0.1:$H/api/v1/debug/00ff")" = 401 ] || fail "an upload needs no token"
curl -s -X PUT --data-binary x "http://127.0.0.1:$H/api/v1/debug/00ff" | grep -q -- "--role symbols" || fail "an upload's refusal names another role"
token=$(fleetprof-collector token --data "$W/data" --role read)
[ "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: example.org' -H "Authorization: Bearer $token" "http://127.0.0.1:$H/api/v1/boards")" = 200 ] || fail "a read token is refused"
[ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" -X PUT --data-binary x "http://127.0.0.1:$H/api/v1/debug/00ff")" = 403 ] || fail "a read token may upload"

# Garbage at the boards' door: not TLS, and TLS with garbage inside, with and without a certificate.
head -c 4096 /dev/urandom | timeout 5 bash -c "cat >/dev/tcp/127.0.0.1/$A" || true
for certificate in "" "-cert $B/board.pem -key $B/board.key"; do
  # shellcheck disable=SC2086
  head -c 65536 /dev/urandom | timeout 10 openssl s_client -quiet -alpn fleetprof/1 $certificate -connect "127.0.0.1:$A" >/dev/null 2>&1 || true
done
run -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 10 books_are_closed board1 || fail "the collector no longer stores: $(books board1)"
curl -fs "http://127.0.0.1:$H/metrics" | grep -E '^fleetprof_ingest.*(refused|failed|errors)' | grep -v ' 0$' | head -n 4 | sed 's/^/  /' >"$W/counted"
[ -s "$W/counted" ] || fail "the garbage is not counted in /metrics"
cat "$W/counted"
