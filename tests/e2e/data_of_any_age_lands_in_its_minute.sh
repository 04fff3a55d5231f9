#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Batches of a year ago and of now, in both orders, from boards that have run since, some with wrong
# clocks. All are acked, and each is found in the minutes of its measurement. A collector that keeps
# less than a year also stores them, counts them, and then deletes those days.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
# deliver AGE [SHARE]: ten boards with windows of so long ago, SHARE of them behind a wrong clock;
# writes their truth to the file TRUTH-AGE.
deliver() {
  "$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards 10 --backlog 10 --window 10s \
    --age "$1" --faults "clock=${2:-0.3}" --duration 1s --ramp 200ms --truth "$W/truth-$1" >"$W/fleet" 2>"$W/fleet.err" ||
    fail "$1: the boards end with $?: $(tail -n 1 "$W/fleet.err")"
}
weight() { api profile -d limit=1 -d "from=$1" -d "to=$2" | json "d['total']"; }
# found AGE: all samples are in those minutes, none around them.
found() {
  local from to all mine
  read -r from to < <(awk '$1 == "span" { printf "%d %d\n", $2 - 2, $3 + 2 }' "$W/truth-$1")
  mine=$(awk '$1 != "span" { sum += $6 } END { printf "%.0f", sum }' "$W/truth-$1")
  all=$(weight "$from" "$to")
  [ "$all" = "$mine" ] || fail "$1: of $mine ns $all are between $from and $to"
  all=$(weight $((from - 86400)) $((to + 86400)))
  [ "$all" = "$mine" ] || fail "$1: of $mine ns there are $all within a day of it"
  say "$1 ago: $mine ns, all of it within $((to - from)) s"
}
start_collector --retention 0 --retention-raw 0 --retention-minutes 0 # or it would be summed up over hours soon
deliver 20d 0 # whose clocks are right: they confirm the collector's, which a few wrong ones then do not overrule
for age in 365d 0s; do deliver $age; done
for age in 365d 20d 0s; do found $age; done
stop_collector

rm -rf "$W/data"
start_collector # keeps 30 days
deliver 20d 0
for age in 0s 365d; do deliver $age; done
found 0s
# Data beyond the retention is deleted within a minute; its stored count stays.
stored=$(awk '$1 != "span" { sum += $3 } END { print sum }' "$W/truth-0s" "$W/truth-20d" "$W/truth-365d")
said=$(api loss | json "d['stored']")
[ "$said" = "$stored" ] || fail "stored are $stored records, the books say $said: $(api loss)"
say "kept for 30 days: $said records stored of a year ago, of 20 days ago and of now"
