#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A proxy passes boards' batches, and drops every answer to them for minutes: by an RST a second
# later, and by silence. All boards repeatedly resend stored batches. Collector and worker are
# killed in turn meanwhile. When answers arrive again every record and every weight exists once.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
proxy=$(dirname "$0")/../netns/proxy.py
start_collector
P=$(port)
mkfifo "$W/proxy"
exec 6<>"$W/proxy"
/usr/bin/python3 "$proxy" "127.0.0.1:$P" "127.0.0.1:$A" "$W/figures" <"$W/proxy" 6>&- &
started+=($!)
until_true 10 test -s "$W/figures" || fail "no proxy"
random_seconds() { printf '%d.%03d' $(($1 * RANDOM / 32768 / 1000)) $(($1 * RANDOM / 32768 % 1000)); } # up to MS
figure() { sed "s/.*$1=\([0-9]*\).*/\1/" "$W/figures"; }
twice() { curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_duplicate_total" { print $2 }'; }

seconds=$(pick 4 240) # by RST, by silence, by RST with kills
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
"$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$P" "${recordings[@]}" --boards "$(pick 10 30)" --backlog 5 --spool 0 \
  --duration "$((seconds * 2 + $(pick 2 60)))s" --drain 120s --window "$(pick 500ms 5s)" --truth "$W/truth" >"$W/fleet" 2>"$W/fleet.err" &
boards=$!
started+=($boards)
enroll real
fleetprofd --state "$B" --collector "127.0.0.1:$P" --window 1s || fail "no daemon"
fleetprof run --state "$B" --sampler "${samplers[0]}" --hz 499 -- /usr/bin/python3 -c 'import time
while True:
  begun = time.process_time()
  while time.process_time() - begun < .03: pass
  time.sleep(.05)' &
started+=($!)
program=$!
has_acks() { [ "$(asked "d['uplink']['acked_batches']")" -gt 0 ]; }
until_true 20 has_acks || fail "nothing is delivered: $(asked "d['uplink']")"

echo lose-acks 1 >&6
sleep "$seconds"
is_long && { echo lose-acks 0 >&6 && sleep 120; }
by_loss=$(twice)
[ "$by_loss" -gt 0 ] || fail "no batch came twice: nothing was tried: $(cat "$W/figures")"
echo lose-acks 1 >&6
for again in $(seq "$(pick 2 40)"); do
  sleep "$(random_seconds "$(pick 1000 5000)")"
  stop_collector KILL
  sleep "$(random_seconds 500)"
  collector_up
  pid=$(worker) && kill -9 "$pid"
done
echo pass >&6
by_kill=$(twice)
kill $program
wait $boards || fail "the boards end with $?: $(tail -n 1 "$W/fleet.err")"
until_true 90 books_are_closed real || fail "the books do not close: $(books real)"
read -r produced had lost pending < <(books real)
answered=$(SINCE=2h profile '{board="real"}' | json "d['samples']")
[ "$answered" = "$had" ] || fail "the answer holds $answered samples of $had stored"
others=$(api loss | json "[{k: v for k, v in b['dropped'].items() if k not in ('pending', 'worker_killed', 'ring_full') and v} for b in d['boards'] if b['board'] == 'real'][0]")
[ "$others" = "{}" ] || fail "lost by more than a worker that was killed, and away: $others"
agreed=$("$fleet/truth_agrees.py" "$W/truth" "http://127.0.0.1:$H" 20) || fail "$agreed"
say "$agreed"
say "a real board: produced $produced = stored $had + $lost while its worker was killed or away, in the answer $answered"
say "$(figure lines) lines, $(figure lost_bytes) bytes of answers lost; batches that came again: $by_loss, and $by_kill since the last kill"
