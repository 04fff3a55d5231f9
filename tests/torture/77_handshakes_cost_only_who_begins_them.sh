#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hundreds of incomplete handshakes (in the long form for longer than their deadline); certificates
# of 16 KiB, a chain of a hundred, renegotiation, a flood of requests for session tickets, a
# ClientHello of 200 KiB: bounded in time and memory, and a board connects among them and is acked.
. "$(dirname "$0")/lib.sh"
door=$(cd "$(dirname "$0")" && pwd)/door
MOST_MIB=300
start_collector --handshakes-per-address 2000 # all share one address, so that limit is raised to test the next
enroll good
metric() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/handshakes.py" "127.0.0.1:$A" "$(pick 6 40)" 1500 >"$W/half" 2>&1 &
half=$!
started+=($half)
sleep 2
begun=$(date +%s%N)
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$B" "127.0.0.1:$A" 1 >"$W/good" 2>"$W/good.err" || fail "a board does not come in: $(tail -n 1 "$W/good.err")"
took=$((($(date +%s%N) - begun) / 1000000))
[ $took -lt 20000 ] || fail "a board took $took ms to come in and be acked for a second"
wait $half || fail "$(cat "$W/half")"
read -r made longest _ <"$W/half"
crowded=$(metric 'fleetprof_ingest_handshakes_total{result="crowded_out"}')
[ "$crowded" -gt 0 ] || fail "nobody made room: $made connections"
awk -v l="$longest" 'BEGIN { exit !(l < 14) }' || fail "a half handshake lasted $longest s"
say "$made half handshakes, the longest of $longest s, $crowded made room for others; a board came in and worked for a second in $took ms"

# Certificates. Faults are detected by size, before anything is computed.
cd "$W" || exit 1
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }
key big.key
printf '[req]\ndistinguished_name=d\nx509_extensions=x\n[d]\n[x]\nnsComment=%s\n' "$(head -c 16000 /dev/zero | tr '\0' a)" >big.conf
openssl req -x509 -new -key big.key -subj /CN=good -days 1 -config big.conf -out big.pem 2>/dev/null || fail "no large certificate"
knock() { timeout 20 openssl s_client -connect "127.0.0.1:$A" -alpn fleetprof/1 "$@" </dev/null >knock.log 2>&1; }
before=$(metric 'fleetprof_ingest_handshakes_total{result="no_certificate"}')
knock -cert big.pem -key big.key
depth=$(pick 12 100)
key one.key
openssl req -x509 -new -key one.key -subj /CN=c0 -days 1 -out c0.pem 2>/dev/null
: >chain.pem
for ((i = 1; i <= depth; i++)); do
  openssl req -new -key one.key -subj "/CN=c$i" 2>/dev/null | openssl x509 -req -CA c$((i - 1)).pem -CAkey one.key -days 1 -set_serial $i \
    -extfile <(printf 'basicConstraints=CA:TRUE\n') -out c$i.pem 2>/dev/null || fail "no chain"
  cat c$i.pem chain.pem >chain.new && mv chain.new chain.pem
done
knock -cert c$depth.pem -key one.key -cert_chain chain.pem
for ((i = 0; i < 40; i++)); do cat c1.pem; done >many.pem
knock -cert c1.pem -key one.key -cert_chain many.pem
[ "$(metric 'fleetprof_ingest_handshakes_total{result="no_certificate"}')" = "$before" ] || fail "one of these certificates was taken for none"
failed=$(curl -fs "http://127.0.0.1:$H/metrics" | awk '/^fleetprof_ingest_handshakes_total\{result="(unknown_authority|bad_certificate|protocol|closed)/ { n += $2 } END { print n }')
[ "${failed:-0}" -ge 3 ] || fail "only $failed handshakes failed"
say "certificates of 16 KiB, a chain of $depth and one of 40 are refused"

# Renegotiation (TLS 1.2), and tickets (none are ever given).
(sleep 1; echo R; sleep 1) | timeout 20 openssl s_client -connect "127.0.0.1:$A" -alpn fleetprof/1 -tls1_2 >renegotiated 2>&1
grep -q 'RENEGOTIATING' renegotiated || fail "renegotiation was not tried: $(tail -n 2 renegotiated)"
grep -qi 'no renegotiation\|closed\|alert\|error\|unexpected' renegotiated || fail "renegotiation: $(tail -n 3 renegotiated)"
for ((i = 0; i < $(pick 5 200); i++)); do
  (sleep 0.2) | timeout 20 openssl s_client -connect "127.0.0.1:$A" -alpn fleetprof/1 -sess_out "session" >tickets 2>&1
  ! grep -q 'New Session Ticket\|session ticket:' tickets || fail "a ticket was given"
done
# A first word without end.
/usr/bin/python3 - "$A" <<'PYTHON' || fail "200 KiB of ClientHello are taken"
import socket, struct, sys
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=15)
record = b"\x16\x03\x01" + struct.pack(">H", 16000)
try:
    line.sendall(record + b"\x01\x03\x20\x00" + b"\0" * 15996)
    for _ in range(12):
        line.sendall(record + b"\0" * 16000)
    sys.exit(line.recv(1000) not in (b"",) and line.recv(1000) != b"")
except ConnectionError:
    pass
PYTHON
memory=$(awk '/^RssAnon/ { print int($2 / 1024) }' "/proc/$COLLECTOR/status")
[ "$memory" -lt $MOST_MIB ] || fail "the collector takes $memory MiB"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$B" "127.0.0.1:$A" 1 >"$W/good" 2>"$W/good.err" || fail "after all that: $(tail -n 1 "$W/good.err")"
say "renegotiation, tickets and an endless ClientHello come to nothing; $memory MiB"
