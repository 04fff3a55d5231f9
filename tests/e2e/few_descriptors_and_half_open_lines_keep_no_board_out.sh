#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A collector with too low a limit of open files reports that, does not start, and does not touch
# its folder. With the number that it requests it accepts boards and answers, however many peers
# connect. Hundreds of half-open connections from one address make room for a board behind it.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/../torture/door
LEAST=512
export PYTHONDONTWRITEBYTECODE=1
A=$(port) H=$(port)
(ulimit -n 64; exec fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H") 2>"$W/err" && fail "it starts with 64 open files"
grep -qx "fleetprof-collector: open files: 64 are too few, a collector needs $LEAST: raise the limit (ulimit -n, .*" "$W/err" || fail "64 open files: $(cat "$W/err")"
[ ! -e "$W/data" ] || fail "it made $(ls "$W/data")"

ulimit -n $LEAST
collector_up --handshakes-per-address 8
metric() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }
enroll edge
/usr/bin/python3 - "$A" "$H" <<'PYTHON' &
import socket, sys, time
kept = []
for port in map(int, sys.argv[1:3]):
    for _ in range(100):
        line = socket.socket()
        line.settimeout(5)
        try:
            line.connect(("127.0.0.1", port))
            kept.append(line)
        except OSError:
            pass
time.sleep(600)
PYTHON
crowd=$!
started+=($crowd)
is_crowded() { [ "$(metric 'fleetprof_ingest_refused_total{reason="address_limit"}')" -gt 0 ]; }
until_true 30 is_crowded || fail "no connection was over the limit of its address"
works() { /usr/bin/python3 "$door/good_board.py" "$B" "127.0.0.1:$A" 1 "http://127.0.0.1:$H" >"$W/good" 2>"$W/good.err"; }
until_true 60 works || fail "a board behind them does not come in: $(tail -n 1 "$W/good.err")"
kill $crowd
made_room=$(metric 'fleetprof_ingest_handshakes_total{result="crowded_out"}')
[ "$made_room" -gt 0 ] || fail "nobody made room: it came in when their time was over"
say "$made_room half-open ones made room; open files: $(ls "/proc/$COLLECTOR/fd" | wc -l) of $LEAST"
