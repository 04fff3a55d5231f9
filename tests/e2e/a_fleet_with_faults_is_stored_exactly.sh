#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fifty boards with cut, stalled and slow connections, lost acks, clock jumps and spool overflows,
# and a collector that is killed among them. Every board's produced, stored and dropped records, and
# every weight, are equal at both ends, in the time in which they were measured.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
many_are_stored() { [ "$(curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_stored_total" { print $2 }')" -gt 100 ]; }
# bear_faults HOW...: a fleet of boards that send so, and a new collector.
bear_faults() {
  local boards agreed known
  [ -z "$COLLECTOR" ] || { stop_collector && rm -r "$W/data"; }
  start_collector
  "$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --threads 2 --backlog 20 \
    --spool 15 --duration 3s --window 200ms --truth "$W/truth" "$@" \
    --faults reset=0.03,lose-ack=0.03,blackhole=0.01,delay=0.02,slow=0.01,duplicate=0.05,clock=0.02 >"$W/fleet" 2>"$W/fleet.err" &
  boards=$!
  started+=($boards)
  until_true 20 many_are_stored || fail "$*: the boards do not deliver"
  stop_collector KILL
  sleep 0.2
  collector_up
  wait $boards || fail "$*: the boards end with $?: $(tail -n 1 "$W/fleet.err")"
  agreed=$("$fleet/truth_agrees.py" "$W/truth" "http://127.0.0.1:$H") || fail "$*: $agreed"
  known=$(awk '$1 == "acks_known" { print $2 }' "$W/fleet")
  twice=$(curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_duplicate_total" { print $2 }')
  told=$(awk '$1 == "referring" { print $2 }' "$W/fleet")
  say "$*: $agreed; $told batches were told by the one before"
  say "$twice batches came again since the collector was killed, $known acks were known already"
}
bear_faults --boards 50
for fault in reset lose-ack blackhole delay slow duplicate clock; do
  [ "$(awk -v name="fault_$fault" '$1 == name { print $2 }' "$W/fleet")" -gt 0 ] || fail "$fault happened to nobody"
done
[ "$twice" -gt 0 ] || fail "no batch came twice: nothing was tried"
# On a busy machine a batch has others in flight and stands alone. So this repeats the test with one
# at a time.
bear_faults --boards 50 --steady
[ "$told" -gt 0 ] || fail "no batch was told by the one before: nothing was tried"

# Without cuts each sent batch arrives once: both ends have the same counts.
counted() { curl -fs "http://127.0.0.1:$H/metrics" | awk '$1 == "fleetprof_ingest_batches_referring_total" { print $2 }'; }
before=$(counted)
"$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards 10 --threads 1 --steady \
  --duration 2s --window 200ms >"$W/whole" 2>"$W/fleet.err" || fail "the boards end with $?: $(tail -n 1 "$W/fleet.err")"
sent=$(awk '$1 == "referring" { print $2 }' "$W/whole") came=$(($(counted) - before))
[ "$sent" -gt 0 ] && [ "$sent" = "$came" ] || fail "$sent batches were sent as told by the one before, $came came"
! grep '^warn sqlite' "$W/collector.log" || fail "that is how a healthy store works" # and one that is taken over
say "$sent batches were told by the one before, and all came once"
