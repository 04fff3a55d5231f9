#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the collector at random moments, of its start as well, among fifty boards that go on delivering: every
# batch that was acked is in the answers, once, and every board's books agree with its own.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
kills=$(pick 6 220)
start_collector
random_seconds() { printf '%d.%03d' $(($1 * RANDOM / 32768 / 1000)) $(($1 * RANDOM / 32768 % 1000)); } # up to MS
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
# Asked to stop by TERM, they deliver what waits.
"$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards 50 --threads 2 --backlog 10 \
  --duration 30m --window 2s --drain 120s --truth "$W/truth" --faults duplicate=0.02,lose-ack=0.01 >"$W/fleet" 2>"$W/fleet.err" &
boards=$!
started+=($boards)
stored() { curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_stored_total" { print $2 }'; }
delivers() { [ "$(stored)" -gt 20 ]; }
until_true 30 delivers || fail "the boards do not deliver: $(tail -n 1 "$W/fleet.err")"
early=0
for again in $(seq "$kills"); do
  stop_collector KILL
  if [ $((RANDOM % 4)) = 0 ]; then # while it opens what the last one left
    fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H" >>"$W/collector.log" 2>&1 &
    COLLECTOR=$!
    sleep "$(random_seconds 100)"
    early=$((early + 1))
    continue
  fi
  collector_up
  sleep "$(random_seconds "$(pick 1200 2000)")"
done
kill -0 "$COLLECTOR" 2>/dev/null && collector_is_ready || { stop_collector KILL && collector_up; }
kill -TERM $boards
wait $boards || fail "the boards end with $?: $(tail -n 1 "$W/fleet.err")"
agreed=$("$fleet/truth_agrees.py" "$W/truth" "http://127.0.0.1:$H" 30) || fail "$agreed"
say "$agreed"
say "$kills kills, $early of them while it started; $(awk '$1 ~ /^(acks|acks_known|connects|broken)$/ { printf "%s %s, ", $1, $2 }' "$W/fleet")$(twice=$(curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_duplicate_total" { print $2 }'); echo "$twice batches came again since the last")"
stop_collector
for file in "$W"/data/*.db "$W"/data/*/*.db; do
  [ -f "$file" ] || continue
  [ "$(sqlite3 "$file" 'pragma integrity_check')" = ok ] || fail "$file is damaged"
done
