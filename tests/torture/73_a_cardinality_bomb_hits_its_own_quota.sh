#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One board sends new stacks, thread names and build-ids at its maximum rate and ignores all
# answers. Its quotas reject them by name, its counters add up, and another board is acked as soon
# as without it (lib.sh: unaffected). Queries wait until the accepted batches are compacted, as
# beside any busy neighbour: within SLOW_MS.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/door
SLOW_MS=6000 # settling the accepted batches takes some seconds of a core here; queries wait for it
start_collector --board-nodes 200000 --board-series 20000 --board-modules 10000
enroll evil && evil=$B
enroll good && good=$B
beside() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$good" "127.0.0.1:$A" "$1" "http://127.0.0.1:$H" >"$W/$2" 2>"$W/good.err" || fail "$2: $(tail -n 1 "$W/good.err")"; }
beside "$(pick 1 10)" alone
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/bomb.py" "$evil" "127.0.0.1:$A" "$(pick 5 60)" >"$W/bomb" 2>&1 &
bomb=$!
started+=($bomb)
sleep 0.5

beside "$(pick 4 55)" bombed
wait $bomb || fail "$(tail -n 3 "$W/bomb")"
quota() { api boards | json "next(b['quotas']['$1']['$2'] for b in d['boards'] if b['name'] == '$3')"; }
turned=0
for name in nodes series modules; do turned=$((turned + $(quota $name refused evil) + $(quota $name delayed evil))); done
[ $turned -gt 0 ] || fail "no quota was hit: $(cat "$W/bomb")"
curl -fs "http://127.0.0.1:$H/metrics" | grep -Eq '^fleetprof_quota_(refused|delayed)_batches_total{quota="(nodes|series|modules)"} [1-9]' || fail "/metrics does not tell"
for name in nodes series modules; do [ "$(quota $name refused good)" = 0 ] || fail "the other board's quota of $name was hit"; done
is_closed() { [ "$(api loss | json "all(b['produced'] == b['stored'] + sum(v for k, v in b['dropped'].items() if k != 'pending') for b in d['boards'])")" = yes ]; }
until_true 20 is_closed || fail "the books do not close: $(api loss)"
for row in acks answers; do
  read -r _ count median longest < <(grep "^$row" "$W/bombed") || fail "no $row"
  read -r _ _ _ before < <(grep "^$row" "$W/alone")
  [ "${longest%.*}" -lt $SLOW_MS ] || fail "$row took $longest ms beside the bomb, $before ms without it"
  [ $row != acks ] || unaffected "acks beside the bomb" "$before" "$longest" $SLOW_MS
  say "$row: 99 % within $before ms without, within $longest ms beside the bomb ($count, median $median ms)"
done
say "of the bomb: $(cat "$W/bomb"); turned away by its quotas: $turned batches"

# A daemon that is rejected counts it under that name, and the counters of both sides agree.
stop_collector
collector_up --board-series 1
enroll daemon
fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "no daemon"
works() { fleetprof run --state "$B" --sampler "${samplers[0]}" --hz $HZ --service "$1" -- "$targets/truth" .3 >/dev/null || fail "$1 ended with $?"; }
works first
has_stored() { read -r _ stored _ _ < <(books daemon); [ "${stored:-0}" -gt 0 ]; }
until_true 20 has_stored || fail "the first service is not stored"
works second
counts_quota() { [ "$(asked "d['loss']['dropped'].get('quota', 0)")" -gt 0 ]; }
until_true 20 counts_quota || fail "its status tells of no loss by quota: $(lost)"
kill "$(cat "$B/fleetprofd.pid")" # its last word has the books
until_true 10 is_gone "$(cat "$B/fleetprofd.pid")" || fail "the daemon does not end"
tells_quota() { [ "$(api loss | json "next(b['dropped'].get('quota', 0) for b in d['boards'] if b['board'] == 'daemon')")" -gt 0 ]; }
until_true 20 tells_quota || fail "no loss by quota: $(api loss)"
until_true 20 books_are_closed daemon || fail "its books do not close: $(api loss)"
say "a daemon over its quota: $(books daemon) produced, stored, dropped, pending"
