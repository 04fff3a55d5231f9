#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Invalid batches from a board with a good certificate: bombs, counts of 2^31, nesting, wrong
# checksums, a batch cut at each of its bytes, frames of every wrong kind (door/malformed.py). Each
# is rejected for good, alone or with its connection. The collector stays within MOST_MIB, an honest
# board beside it is acked as usual, and the counters add up.
. "$(dirname "$0")/lib.sh"
door=$(dirname "$0")/door
MOST_MIB=$(pick 400 400) # of its own; the queue, and the batches being decoded, may have 64 MiB each
SLOW_MS=5000             # the honest board's ack (lib.sh: unaffected)
start_collector --board-refusals 100000
enroll evil && evil=$B
enroll good && good=$B
watch_memory() { while sleep 0.2; do awk '/^RssAnon/ { print int($2 / 1024) }' "/proc/$COLLECTOR/status"; done >"$W/memory" 2>/dev/null; }
watch_memory &
started+=($!)
acks() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/good_board.py" "$good" "127.0.0.1:$A" "$1" 2>"$W/good.err"; }
acks "$(pick 1 10)" >"$W/alone" || fail "the honest board, alone: $(tail -n 1 "$W/good.err")"
read -r _ _ _ alone <"$W/alone"
acks "$(pick 6 30)" >"$W/good" &
honest=$!
started+=($honest)
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/malformed.py" "$evil" "127.0.0.1:$A" ${TORTURE_LONG:+long} >"$W/evil" 2>&1 || fail "$(tail -n 3 "$W/evil")"
wait $honest || fail "the honest board: $(tail -n 1 "$W/good.err")"
kill -0 "$COLLECTOR" || fail "the collector has ended"
peak=$(sort -n "$W/memory" | tail -n 1)
[ "${peak:-0}" -lt "$MOST_MIB" ] || fail "the collector took $peak MiB"
read -r _ count median longest <"$W/good"
unaffected "an honest board's acks" "$alone" "$longest" $SLOW_MS
refused=$(curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_refused_total" { print $2 }')
[ "$refused" -gt 200 ] || fail "only $refused batches were refused"
is_closed() { [ "$(api loss | json "all(b['produced'] == b['stored'] + sum(b['dropped'].values()) for b in d['boards'] if b['board'] == 'good')")" = yes ]; }
until_true 10 is_closed || fail "the books do not close: $(api loss)"
say "$(cat "$W/evil"); the collector took at most $peak MiB; beside it $count acks, median $median ms, 99 % within $longest ms, $alone ms alone"

# A board that continues must wait between: the limit of rejections.
stop_collector
collector_up --board-refusals 20
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$door/malformed.py" "$evil" "127.0.0.1:$A" >"$W/evil" 2>&1 && fail "the quota of refusals holds nobody up"
grep -q 'later.*quota of refusals' "$W/evil" || fail "no word of the quota: $(tail -n 1 "$W/evil")"
[ "$(api boards | json "next(b['quotas']['refusals']['used'] for b in d['boards'] if b['name'] == 'evil')")" -ge 20 ] || fail "the API does not tell"
say "the quota of refusals holds"
