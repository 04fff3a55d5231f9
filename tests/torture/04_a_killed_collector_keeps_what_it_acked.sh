#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the collector at random moments, including its start, among fifty boards that keep
# delivering: every acked batch is in the answers, once, and every board's counters agree with the
# collector's.
#
# The delivered data is forty minutes old and windows are kept for ten. Every other life has a clock
# that runs sixty times as fast (fast_clock.c): a round a second rolls up and deletes windows, and
# most of these lives end in or near one of these rounds.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
kills=$(pick 8 220)
compile "$W/fast_clock.so" cc -D_GNU_SOURCE -shared -fPIC -O2 "$(dirname "$torture_sources")/fast_clock.c" || not_run "the clock cannot be built"
life=(--retention-raw 10m)
fast_up() {
  fast_since=$SECONDS
  LD_PRELOAD=$W/fast_clock.so FAST_CLOCK=60 fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H" "${life[@]}" >>"$W/collector.log" 2>&1 &
  COLLECTOR=$!
  until_true 10 collector_is_ready || fail "the collector is not ready after 10 s"
}
longest=0 # of these lives, in seconds
fast_down() {
  stop_collector KILL
  local seconds=$((SECONDS - fast_since + 1))
  [ $seconds -le $longest ] || longest=$seconds
}
start_collector "${life[@]}"
random_seconds() { printf '%d.%03d' $(($1 * RANDOM / 32768 / 1000)) $(($1 * RANDOM / 32768 % 1000)); } # up to MS
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
# On SIGTERM, they deliver pending batches.
"$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards 50 --threads 2 --backlog 10 --age 40m \
  --duration 30m --window 2s --drain 120s --truth "$W/truth" --faults duplicate=0.02,lose-ack=0.01 >"$W/fleet" 2>"$W/fleet.err" &
boards=$!
started+=($boards)
metric() { curl -fs "http://127.0.0.1:$H/metrics" | awk -v m="$1" '$1 == m { print $2 }'; }
delivers() { [ "$(metric fleetprof_ingest_batches_stored_total)" -gt 20 ]; }
until_true 30 delivers || fail "the boards do not deliver: $(tail -n 1 "$W/fleet.err")"
early=0 fast=0 rounds=0
stop_collector KILL
for again in $(seq "$kills"); do
  if [ $((again % 2)) = 0 ]; then
    fast_up
    sleep "$((RANDOM % 3)).9$((RANDOM % 10))"
    sleep "$(random_seconds 300)"
    over=$(metric fleetprof_store_roll_rounds_total)
    fast=$((fast + 1)) rounds=$((rounds + ${over:-0}))
    fast_down
  elif [ $((RANDOM % 2)) = 0 ]; then # while it opens the last one's files
    fleetprof-collector --data "$W/data" --agents "127.0.0.1:$A" --http "127.0.0.1:$H" "${life[@]}" >>"$W/collector.log" 2>&1 &
    COLLECTOR=$!
    sleep "$(random_seconds 100)"
    early=$((early + 1))
    stop_collector KILL
  else
    collector_up "${life[@]}"
    sleep "$(random_seconds "$(pick 1200 2000)")"
    stop_collector KILL
  fi
done
# Windows went: from a day's file, or with it.
windows_went() {
  local file
  for file in "$W"/data/hours-*.db; do
    [ -f "$file" ] || return 1
    file=${file/hours-/day-}
    [ ! -f "$file" ] || [ "$(sqlite3 "$file" 'select before_ms > 0 from pruned')" = 1 ] || return 1
  done
}
fast_up
until_true 30 windows_went || fail "no windows are deleted: $(ls -l "$W/data")"
fast_down
collector_up "${life[@]}"
kill -TERM $boards
wait $boards || fail "the boards end with $?: $(tail -n 1 "$W/fleet.err")"
# Deleted windows are in sums of five minutes, at the time of that life's clock: at its end it is a
# minute ahead for each of its seconds.
awk -v minutes=$longest '$1 == "span" { $2 = sprintf("%.0f", 300 * int(($2 - 5) / 300)); $3 = sprintf("%.3f", $3 + (minutes + 5) * 60) } { print }' "$W/truth" >"$W/truth-of-fast-clocks"
agreed=$("$fleet/truth_agrees.py" "$W/truth-of-fast-clocks" "http://127.0.0.1:$H" 30) || fail "$agreed"
say "$agreed"
say "$kills kills, $early of them while it started, $fast under a fast clock, up to $longest s long, that had $rounds rounds done; $(awk '$1 ~ /^(acks|acks_known|connects|broken)$/ { printf "%s %s, ", $1, $2 }' "$W/fleet")$(metric fleetprof_ingest_batches_duplicate_total) batches came again since the last"
stop_collector
for file in "$W"/data/*.db "$W"/data/*/*.db; do
  [ -f "$file" ] || continue
  [ "$(sqlite3 "$file" 'pragma integrity_check')" = ok ] || fail "$file is damaged"
done
