#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A used, expired or another board's token, or one of another role; a request with other names, with
# CA:TRUE, not signed by its key, or of a megabyte. Each is rejected, or gets only a board's
# certificate, and is logged.
. "$(dirname "$0")/lib.sh"
start_collector
token() { fleetprof-collector token --data "$W/data" "$@"; }
once=$(token --board once)
short=$(token --board short --ttl 1s)
reader=$(token --role read)
fleetprof enroll --collector "127.0.0.1:$A" --token "$once" --state "$W/board-once" >"$W/log" 2>&1 || fail "enroll: $(cat "$W/log")"

# ask TOKEN FILE [LENGTH]: sends an Enroll with the request in FILE; prints the answer's bytes as
# text.
ask() {
  /usr/bin/python3 - "$A" "$@" <<'END'
import socket, ssl, struct, sys
port, token, path = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]
csr = open(path, "rb").read()
def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data
payload = b"\x08\x01" + field(2, token) + field(3, csr)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.set_alpn_protocols(["fleetprof/1"])
line = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20))
answer = b""
try:
    line.sendall(struct.pack(">IB", len(payload), 13) + payload)
    while piece := line.recv(65536):
        answer += piece
except (ConnectionError, ssl.SSLError):
    pass
text = answer.decode("latin1")
start, end = text.find("-----BEGIN"), text.find("-----END CERTIFICATE-----")
if start >= 0:
    open(path + ".crt", "w").write(text[start:end] + "-----END CERTIFICATE-----\n")
print("certificate" if start >= 0 else text)
END
}
request() { # request NAME [OPENSSL OPTIONS]...
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$W/$1.key" -outform DER -out "$W/$1" -subj "/CN=${2:-board}" "${@:3}" 2>/dev/null || fail "openssl makes no request $1"
}
request plain
denied() { until_true 5 grep -q "$1" "$W/data/denials.log" || fail "not in denials.log: $1: $(tail -n 4 "$W/data/denials.log")"; }
refused() { # refused WHY TOKEN FILE
  local got
  got=$(ask "$2" "$W/$3")
  [[ $got == *"$1"* ]] || fail "not refused as '$1': $got"
  denied "enrolment refused: .*$1"
}
refused "token was used" "$once" plain
sleep 1.2
refused "token has expired" "$short" plain
refused "unknown token" "$reader" plain
refused "unknown token" "fpt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" plain
fleetprof-collector revoke --data "$W/data" --board gone --force
refused "board is revoked" "$(token --board gone 2>/dev/null)" plain

# A request's fields besides its key are ignored: name, alternative names, CA:TRUE.
greedy=$(token --board modest)
request greedy other-board -addext "subjectAltName=URI:spiffe://fleetprof/board/other-board,DNS:collector" -addext basicConstraints=critical,CA:TRUE \
  -addext keyUsage=keyCertSign -addext extendedKeyUsage=serverAuth
[ "$(ask "$greedy" "$W/greedy")" = certificate ] || fail "a request with more in it gets no certificate"
openssl x509 -in "$W/greedy.crt" -noout -subject -ext subjectAltName,basicConstraints,keyUsage,extendedKeyUsage >"$W/greedy.txt"
grep -q 'CN = modest' "$W/greedy.txt" && grep -q 'URI:spiffe://fleetprof/board/modest' "$W/greedy.txt" && grep -q 'CA:FALSE' "$W/greedy.txt" \
  && grep -q 'TLS Web Client Authentication' "$W/greedy.txt" || fail "the certificate is not a board's: $(cat "$W/greedy.txt")"
grep -q 'other-board\|DNS:\|CA:TRUE\|Certificate Sign\|Server Auth' "$W/greedy.txt" && fail "the certificate has what was asked for: $(cat "$W/greedy.txt")"

# An invalid request does not consume the token.
good=$(token --board late)
/usr/bin/python3 -c 'import sys; d = bytearray(open(sys.argv[1], "rb").read()); d[-3] ^= 1; open(sys.argv[2], "wb").write(d)' "$W/plain" "$W/forged"
head -c 1000 /dev/urandom >"$W/noise"
openssl req -new -newkey rsa:2048 -nodes -keyout "$W/rsa.key" -outform DER -out "$W/rsa" -subj /CN=b 2>/dev/null
refused "not signed by its own key" "$good" forged
refused "not DER" "$good" noise
refused "not on the curve" "$good" rsa
head -c $((1 << 20)) /dev/zero >"$W/megabyte"
[[ $(ask "$good" "$W/megabyte") == *certificate* ]] && fail "a megabyte is signed"
denied "127.0.0.1: boards' door: frame_too_long"
head -c 30000 /dev/zero >"$W/large" # fits into a frame
[[ $(ask "$good" "$W/large") == *certificate* ]] && fail "30 kB are signed"
denied "127.0.0.1: boards' door: .*LIMIT_CSR_BYTES"
[ "$(ask "$good" "$W/plain")" = certificate ] || fail "the token was used up by a request that was refused"
say "$(grep -c 'refused\|door' "$W/data/denials.log") refusals in denials.log"
