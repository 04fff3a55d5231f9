#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 70: two weeks of a board and of a collector, time-scaled: memory, descriptors and disk stay flat.
#
# The board: fleetprofd with clocks that run thirty times as fast (fast_clock.c), and short
# programs, each of which closes a window: as many as a board closes in 14 days at one a minute. The
# collector: boards that deliver one day after the other, 14 and more; old days are deleted
# (--max-bytes). A line fitted to the last two thirds of the readings predicts the growth of the
# remaining days.
. "$(dirname "$0")/lib.sh"
fleet=$(dirname "$0")/../fleet
WINDOWS=$((14 * 24 * 60)) # one a minute
compile "$W/fast_clock.so" cc -D_GNU_SOURCE -shared -fPIC -O2 "$(dirname "$torture_sources")/fast_clock.c" || not_run "the clock cannot be built"

# Figures of process PID: private memory in KiB, descriptors.
memory_of() { awk '/RssAnon/ { print $2 }' "/proc/$1/status"; }
descriptors_of() { ls "/proc/$1/fd" | wc -l; }
kib_of() { du -sk "$1" | cut -f 1; }
# flat FILE STEPS MEMORY DESCRIPTORS DISK: rows of `step memory descriptors disk`; the most that each may grow in STEPS.
flat() {
  /usr/bin/python3 - "$@" <<'P'
import sys
rows = [tuple(map(float, line.split())) for line in open(sys.argv[1])]
steps, limits = float(sys.argv[2]), [float(x) for x in sys.argv[3:]]
late = rows[len(rows) // 3:]
def grows(column):
    n, x, y = len(late), [r[0] for r in late], [r[column] for r in late]
    mx, my = sum(x) / n, sum(y) / n
    return steps * sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
found = [grows(column) for column in (1, 2, 3)]
print(f"  {len(rows)} readings up to {rows[-1][0]:.0f}: memory {rows[0][1]:.0f} KiB at first, {rows[-1][1]:.0f} at last, {found[0]:+.0f} in {steps:.0f}; "
      f"descriptors {rows[0][2]:.0f}, {rows[-1][2]:.0f}, {found[1]:+.1f}; disk {rows[0][3]:.0f} KiB, {rows[-1][3]:.0f}, {found[2]:+.0f}")
sys.exit(any(f > limit for f, limit in zip(found, limits)))
P
}

start_collector
enroll weeks
# Without perf each of them is a target of its own, for ever.
LD_PRELOAD=$W/fast_clock.so "$targets/refuse_perf" fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s --budget-bytes 0 --spool-bytes 4M || fail "no daemon"
keeper=$(cat "$B/fleetprofd.pid")
acked() { asked "d['uplink']['acked_batches']"; }
is_acked() { [ "$(acked)" -ge "$1" ]; }
fleetprof run --state "$B" --flush-timeout 0s --sampler timer -- "$torture/short_lives" "$(pick 8 900)" 40 >"$W/run.out" 2>"$W/run.err" &
program=$!
started+=($program)
until_true 20 is_acked 20 || fail "nothing is delivered: $(asked "d['uplink']")"
worker=$(worker)
while kill -0 $program 2>/dev/null && ! is_acked "$(pick 100000 $WINDOWS)"; do
  echo "$(acked) $(($(memory_of "$keeper") + $(memory_of "$worker"))) $(($(descriptors_of "$keeper") + $(descriptors_of "$worker"))) $(kib_of "$B")" >>"$W/board"
  sleep "$(pick .3 5)"
done
kill $program 2>/dev/null
[ "$(worker)" = "$worker" ] || fail "the worker is another"
# A short form has few readings, and first things among them.
flat "$W/board" "$(pick 100 $WINDOWS)" "$(pick 512 1024)" "$(pick 16 4)" "$(pick 512 1024)" || fail "the board is not flat: $(tail -n 5 "$W/board")"
until_true 60 books_are_closed weeks || fail "the books do not close: $(books weeks)"
read -r produced had lost pending < <(books weeks)
answered=$(SINCE=30d profile '{board="weeks"}' | json "d['samples']")
[ "$answered" = "$had" ] || fail "the answer holds $answered samples of $had stored"
say "a board: $(acked) windows, $(($(acked) / 1440)) days at one a minute; produced $produced = stored $had + dropped $lost"
kill "$keeper" && until_true 10 is_gone "$keeper" || fail "the daemon does not end"
stop_collector

rm -rf "$W/data"
days=$(pick 3 42)
LIMIT_KIB=40000
start_collector --max-bytes "${LIMIT_KIB}K" --retention 0
recordings=()
for file in "$fleet"/captured/*; do recordings+=(--recording "$file"); done
stored=0
for day in $(seq "$days"); do
  "$targets/../fleet/fleetsim" --data "$W/data" --agents "127.0.0.1:$A" "${recordings[@]}" --boards 10 --backlog "$(pick 10 96)" --window "$(pick 144m 15m)" \
    --age "$(((days - day) * 24))h" --ramp 100ms --truth "$W/truth" >"$W/fleet" 2>"$W/fleet.err" || fail "day $day: the boards end with $?: $(tail -n 1 "$W/fleet.err")"
  stored=$((stored + $(awk '$1 != "span" { sum += $3 } END { printf "%.0f", sum }' "$W/truth")))
  ! is_long || sleep 5 # a round of retention is a minute
  echo "$day $(memory_of "$COLLECTOR") $(descriptors_of "$COLLECTOR") $(kib_of "$W/data")" >>"$W/days"
done
said=$(api loss | json "d['stored']")
[ "$said" = "$stored" ] || fail "stored are $stored records, the books say $said"
flat "$W/days" 14 "$(pick 100000 2048)" 4 "$(pick 100000 $((LIMIT_KIB / 4)))" || fail "the collector is not flat: $(tail -n 14 "$W/days")"
is_within() { [ "$(kib_of "$W/data")" -le $((LIMIT_KIB * 5 / 4)) ]; }
! is_long || until_true 90 is_within || fail "the store takes $(kib_of "$W/data") KiB of $LIMIT_KIB"
say "a collector: $days days of 10 boards, $said records, $(kib_of "$W/data") KiB on the disk"
