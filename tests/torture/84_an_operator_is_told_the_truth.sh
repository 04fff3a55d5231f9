#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board's clock is twenty years off, and is set to the other side while a program runs: the run
# ends with a link that has its samples, and status and doctor use the collector's time. If the
# collector hangs, the wait shows its duration, and then where the samples are. Files of a killed
# run in /tmp are deleted by the next start. The collector's certificate has the names of --http and
# --public-name: these addresses are accepted, every other is refused with the valid names and the
# remedy. Plain HTTP to that port gets a message.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../e2e/queries.sh"
export DISPLAY=:0 TMPDIR=$W/tmp TERM=vt100
mkdir "$TMPDIR"
year=31556952
set_wall() { /usr/bin/python3 -c 'import struct, sys; open(sys.argv[1], "r+b" if len(sys.argv) > 3 else "wb").write(struct.pack("=q", int(sys.argv[2]) * 10**9))' "$W/wall" "$@"; }
off() { env LD_PRELOAD="$torture/other_clocks.so" OTHER_WALL="$W/wall" "$@"; }
is_connected() { [ "$(status --format json 2>/dev/null | json "d['uplink']['connected'] and d['uplink']['is_time_known']" 2>/dev/null)" = yes ]; }

# Clocks.
start_collector
enroll clocks
for years in $(pick -20 "-20 20"); do
  set_wall $((years * year))
  off fleetprofd --foreground --state "$B" --collector "127.0.0.1:$A" >"$W/daemon.log" 2>&1 &
  daemon=$!
  started+=($daemon)
  until_true $LONG is_connected || fail "$years years: it does not connect: $(tail -n 1 "$W/daemon.log")"
  for round in 1 2; do
    off fleetprof run --state "$B" --verbose --hz 199 -- "$targets/truth" 1 2>"$W/said" >/dev/null &
    runner=$!
    [ $round = 1 ] || { sleep 0.3; set_wall $((-years * year)) again; }
    wait $runner || fail "$years years: a run ended with $?"
    url=$(grep -o 'http://[^ ]*$' "$W/said") || fail "$years years, round $round: no link: $(cat "$W/said")"
    count=$(sed -n 's/^fleetprof: \([0-9]*\) samples.*/\1/p' "$W/said")
    got=$(curl -fs "http://127.0.0.1:$H/api/v1/profile?${url#*view=profile&}" | json "d['samples']") || fail "$years years: no answer behind $url"
    [ "${count:-0}" -gt 0 ] && [ "$got" -ge "$count" ] || fail "$years years, round $round: $got samples behind the link, and $count were said"
    say "$years years, round $round: $count samples said, $got behind the link"
  done
  off fleetprof status --state "$B" | grep -qE "this board's clock is [0-9]+ days (ahead of|behind) the collector's" || fail "status: $(off fleetprof status --state "$B")"
  off fleetprof doctor --state "$B" >"$W/doctor"
  grep -qE "^PASS  certificate +valid for another" "$W/doctor" || fail "the certificate is judged by the wrong clock: $(grep -A 1 certificate "$W/doctor")"
  kill $daemon
  wait $daemon
done

# It hangs, and a run is killed with all around it.
enroll waits
kill -STOP "$COLLECTOR"
OUT=$W/out /usr/bin/python3 "$(dirname "$0")/../e2e/on_terminal.py" 100 fleetprof run --state "$B" --collector "127.0.0.1:$A" --flush-timeout 4s -- "$targets/truth" .3 >"$W/terminal" || fail "a run ended with $?"
grep -aqE "waiting for the collector to store the samples, [1-9][0-9]* s" "$W/terminal" || fail "nothing tells how long it waits: $(cat -v "$W/terminal")"
tail -n 1 "$W/terminal" | grep -aq 'kept in the spool' || fail "it is not said where the samples are: $(cat -v "$W/terminal")"
kill -CONT "$COLLECTOR"
until_true $LONG books_are_closed waits || fail "what was kept does not come"
left() { find "$TMPDIR" -mindepth 1 -maxdepth 1; }
for ((i = 0; i < $(pick 1 5); i++)); do
  fleetprof run --output "$W/killed.fp" -- "$targets/truth" 60 >/dev/null 2>&1 &
  killed=$!
  has_state() { [ -s "$(ls -d "$TMPDIR"/fleetprof-run-*/fleetprofd.pid 2>/dev/null)" ]; }
  until_true $LONG has_state || fail "no state: $(left)"
  daemon=$(cat "$TMPDIR"/fleetprof-run-*/fleetprofd.pid)
  kill -9 $killed "$daemon" $(pgrep -P $killed) $(pgrep -P "$daemon")
  wait $killed 2>/dev/null
  until_true $LONG is_gone "$daemon" || fail "the daemon lives"
  [ -n "$(left)" ] || fail "nothing is left: the test says nothing"
  fleetprof run --state "$B" --collector "127.0.0.1:$A" -- true >/dev/null 2>&1 || fail "a run ended with $?"
  [ -z "$(left)" ] || fail "left behind: $(left)"
done

# Names of the certificate.
stop_collector
fleetprof-collector token --data "$W/data" --role read >"$W/token" || fail "no token"
fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "0.0.0.0:$H" --public-name press.example.org --public-name 127.0.0.2 >>"$W/collector.log" 2>&1 &
COLLECTOR=$!
asked_by() { fleetprof query truth --http "$1" --token-file "$W/token" ${CA:+--ca "$CA"} >"$W/out" 2>"$W/err"; }
CA=$W/data/ca/root.pem
until_true $LONG asked_by "https://localhost:$H" || fail "by localhost: $(cat "$W/err")"
for name in 127.0.0.1 127.0.0.2; do asked_by "https://$name:$H" || fail "by $name: $(cat "$W/err")"; done
curl -fsS --cacert "$CA" --resolve "press.example.org:$H:127.0.0.1" "https://press.example.org:$H/healthz" >"$W/out" 2>&1 || fail "by the public name: $(cat "$W/out")"
asked_by "https://127.0.0.3:$H" && fail "by an address that it does not name"
grep -q 'it names .*press.example.org.*--public-name' "$W/err" || fail "its names and the remedy are not said: $(cat "$W/err")"
CA= asked_by "https://localhost:$H" && fail "a root that nobody trusts is taken"
grep -q -- '--ca' "$W/err" || fail "it is not said how to trust it: $(cat "$W/err")"
asked_by "http://localhost:$H" && fail "plain HTTP is answered"
grep -q 'write https://' "$W/err" || fail "plain HTTP: $(cat "$W/err")"
