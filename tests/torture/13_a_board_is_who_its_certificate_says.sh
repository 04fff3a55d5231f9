#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Board thief names board victim wherever a peer can give a name: in SNI, in the labels of its Hello
# and of its programs, in a service, in headers and addresses of the API, in the request of a
# renewal. All its data is stored as thief's, or rejected; victim never sent anything.
. "$(dirname "$0")/lib.sh"
start_collector --certificate-life 8s
enroll victim
enroll thief
fleetprofd --state "$B" --collector "127.0.0.1:$A" --label board=victim >"$W/daemon.log" 2>&1 && fail "a daemon may be labelled with a board's name"
fleetprofd --state "$B" --collector "127.0.0.1:$A" --label name=victim --label board_name=victim || fail "the daemon does not start"
run --service victim -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
run --label board=victim -- "$targets/truth" 1 >/dev/null 2>&1 && fail "a program may be labelled with a board's name"
until_true 15 books_are_closed thief || fail "the books do not close: $(books thief)"
of() { profile "{board=\"$1\"}" -d limit=1 | json "d['samples']"; }
[ "$(of thief)" -gt 50 ] || fail "thief has $(of thief) samples"
[ "$(of victim)" = 0 ] || fail "victim has $(of victim) samples that thief sent"
[ "$(api loss | json "[b['board'] for b in d['boards'] if b['produced']]")" = "['thief']" ] || fail "the books: $(api loss)"

# By hand: the name in SNI, in Hello's labels and in a renewal's request.
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$W/v.key" -outform DER -out "$W/v.csr" -subj "/CN=victim" \
  -addext "subjectAltName=URI:spiffe://fleetprof/board/victim" 2>/dev/null || fail "openssl makes no request"
kill "$(cat "$B/fleetprofd.pid")" && until_true 10 is_gone "$(cat "$B/fleetprofd.pid")"
/usr/bin/python3 - "$A" "$B" "$W/v.csr" >"$W/renewed" <<'END' || fail "thief cannot talk by hand: $(cat "$W/renewed")"
import socket, ssl, struct, sys
port, state, csr = int(sys.argv[1]), sys.argv[2], open(sys.argv[3], "rb").read()
def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data
def frame(kind, payload):
    return struct.pack(">IB", len(payload), kind) + payload
context = ssl.create_default_context(cafile=f"{state}/ca.pem")
context.check_hostname = False
context.load_cert_chain(f"{state}/board.pem", f"{state}/board.key")
context.set_alpn_protocols(["fleetprof/1"])
line = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20), server_hostname="victim")
label = field(8, field(1, b"board") + field(2, b"victim"))
line.sendall(frame(1, b"\x08\x01" + field(2, b"v" * 16) + field(5, b"victim") + label
                   + varint(10 << 3) + b"\x01" + field(11, b"\x09" + b"run of v")))
def hear():
    head = b""
    while len(head) < 5:
        head += line.recv(5 - len(head)) or sys.exit("closed")
    size, kind = struct.unpack(">IB", head)
    body = b""
    while len(body) < size:
        body += line.recv(size - len(body))
    return kind, body
kind, body = hear()
if kind != 2:
    sys.exit(f"no welcome: {kind} {body}")
line.sendall(frame(15, field(1, csr)))
kind, body = hear()
text = body.decode("latin1")
print(text[text.index("-----BEGIN"):text.index("-----END CERTIFICATE-----")] + "-----END CERTIFICATE-----")
END
openssl x509 -in "$W/renewed" -noout -subject -ext subjectAltName >"$W/names" || fail "the answer is no certificate"
grep -q 'CN = thief' "$W/names" && ! grep -q victim "$W/names" || fail "thief's renewal names $(cat "$W/names")"
[ "$(api boards | json "[b['name'] for b in d['boards']]")" = "['thief']" ] || fail "boards: $(api boards)"

# The API identifies a visitor by token alone.
for asked in "-H X-Board:victim" "-H X-Forwarded-User:admin" "-H Host:victim"; do
  # shellcheck disable=SC2086
  status=$(curl -s -o "$W/answer" -w '%{http_code}' $asked -X PUT --data-binary x "http://127.0.0.1:$H/api/v1/debug/abcdef?board=victim")
  [ "$status" = 401 ] || fail "curl $asked: $status: $(head -c 200 "$W/answer")"
done
token=$(fleetprof-collector token --data "$W/data" --role symbols)
status=$(curl -s -o "$W/answer" -w '%{http_code}' -H "Authorization: Bearer $token" -X PUT --data-binary x "http://127.0.0.1:$H/api/v1/debug/abcdef?board=victim")
[ "$status" = 400 ] || fail "an upload for a board: $status"
say "$(of thief) samples are thief's, none victim's"
