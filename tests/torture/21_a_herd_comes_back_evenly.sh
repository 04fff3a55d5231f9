#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A collector is killed, and all its boards at once. They reconnect one after the other within the
# delay that it had given them, all within a minute, and no batch is lost or counted twice. In the
# long form 5000 boards, whose busiest second must stay below three times the mean (with few boards
# that second is random).
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
boards=$(pick 300 5000)
MOST_MIB=1024
start_collector
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
"$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards "$boards" --threads 2 \
  --window "$(pick 3s 60s)" --duration 900s --ramp "$(pick 1500ms 20s)" --truth "$W/truth" >"$W/fleet" 2>"$W/fleet.err" &
simulator=$!
started+=($simulator)
connected() { curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_boards_connected" { print $2 }'; }
all_are_in() { [ "$(connected)" = "$boards" ]; }
until_true "$(pick 30 120)" all_are_in || fail "only $(connected) boards of $boards come"
is_long && sleep 20 # a ping of each, whose answer has the size of the fleet
stop_collector KILL
collector_up
since=$SECONDS
until_true 60 all_are_in || fail "a minute after its restart only $(connected) boards are back"
took=$((SECONDS - since))
memory=$(awk '/^RssAnon/ { print int($2 / 1024) }' "/proc/$COLLECTOR/status")
[ "$memory" -lt $MOST_MIB ] || fail "the collector takes $memory MiB"
kill "$simulator" # they deliver their batches, and end
wait $simulator || fail "the boards end with $?: $(tail -n 1 "$W/fleet.err")"
agreed=$("$fleet/truth_agrees.py" "$W/truth" "http://127.0.0.1:$H" "$(pick 10 60)") || fail "$agreed"
figure() { awk -v m="$1" '$1 == m { print $2 }' "$W/fleet"; }
peak=$(figure returns_peak_a_second) mean=$(figure returns_mean_a_second)
[ "$(figure returns)" -ge $((boards * 3 / 4)) ] || fail "only $(figure returns) boards came back" # the others had not received Welcome yet
if is_long; then
  awk -v peak="$peak" -v mean="$mean" 'BEGIN { exit !(peak < 3 * mean) }' || fail "$peak boards came in one second, $mean in the mean"
fi
say "$boards boards were back after $took s, at most $peak a second and $mean in the mean; $memory MiB; $agreed"
