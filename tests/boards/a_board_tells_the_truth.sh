#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A whole board of another CPU enrolls, samples a program with known shares of 60/30/10 %, by perf
# and by timer, and ships over TLS. The collector's answer has names and shares within three points,
# the counters add up, and the board's architecture is known. With CLOCK=1970 the board's clock has
# never been set, and the answers have the collector's times.
#
#   a_board_tells_the_truth.sh PORT [old]     (armhf unless given; board.sh)
#
# old: kernel.sh's kernel with a tick of 100 Hz, 997 Hz requested. perf achieves 997 Hz, the timer
# at most the tick.
if [ -n "${ONLY_IF_ASKED:-}" ] && [ -z "${FLEETPROF_BOARDS:-}" ]; then
  echo "not run: a whole board wants FLEETPROF_BOARDS=DIR and minutes the first time; alone: tests/boards/armhf_road.sh"
  exit 77
fi
. "$(dirname "$0")/../e2e/lib.sh"
. "$(dirname "$0")/board.sh"
start_collector
[ "${2:-}" != old ] || { KERNEL=$("$boards_source/tests/boards/kernel.sh" "${1:-armhf}") && fast=997; } || fail "no kernel"
board_begin "${1:-armhf}"
board_install
board_compile truth "$boards_source/tests/targets/truth.c"
TOKEN=$(fleetprof-collector token --data "$W/data" --board "$PORT-board") || fail "no token"
if [ "${CLOCK:-}" = 1970 ]; then RTC=base=1970-01-01T00:00:00; else NOW=$(date +%s); fi
BOARD_ENVIRONMENT="A=$A TOKEN=$TOKEN SAMPLERS='${SAMPLERS:-perf timer}' PERF_HZ=${fast:-199} TIMER_HZ=${fast:-99}"
began=$(date +%s)
board_start "${MIB:-128}" 600 <<'T'
say year "$(date +%Y)"
PATH=/opt/bin:$PATH
B=/var/board
fleetprof enroll --collector "10.0.2.2:$A" --token "$TOKEN" --state $B
say enrolled "$(cut -d ' ' -f 1 /proc/uptime)"
fleetprofd --state $B --collector "10.0.2.2:$A"
answers_within 60 fleetprof status --state $B
for sampler in $SAMPLERS; do
  [ $sampler = perf ] && hz=$PERF_HZ || hz=$TIMER_HZ
  fleetprof run --state $B --collector "10.0.2.2:$A" --service truth-$sampler --sampler $sampler --hz $hz --flush-timeout 60s \
    -- truth 30 >/tmp/truth
  say "truth-$sampler $(cat /tmp/truth)"
done
await names
fleetprof status --state $B
say memory-at-end "$(free_kb)"
kill "$(cat $B/fleetprofd.pid)"
T
board_awaits names 500 || { board_end; fail "the board has not done its work"; }
has_names() {
  profile "{service=\"truth-$sampler\"}" >"$W/$sampler.json" && [ "$(json "sum(f['name'] == 'alpha_sixty' for f in d['functions'])" <"$W/$sampler.json")" = 1 ]
}
# If the board's clock is the host's, load on the host mostly appears as the board's kernel time.
[ -n "$ICOUNT" ] && named=.95 || named=.3
# Samples a second of the program's CPU time: the requested rate, or at most the tick for the timer.
at_its_rate() {
  [ "$1" = perf ] && wanted=$fast || wanted=100
  awk -v wanted="$wanted" -v samples="$(json "d['samples']" <"$W/$1.json")" -v name="$1" '{ rate = samples / ($4 + $5)
    printf "  %s: asked 997 Hz, achieved %.1f, at most %d here\n", name, rate, wanted
    exit !(rate > .95 * wanted && rate < 1.02 * wanted) }' "$W/truth"
}
for sampler in ${SAMPLERS:-perf timer}; do
  until_true ${NAMES_WITHIN:-120} has_names || { board_goes_on && board_end && cat "$CONSOLE_LOG" && fail "$sampler: no names: $(head -c 600 "$W/$sampler.json"; api debug)"; }
  told "truth-$sampler" >"$W/truth"
  say "$(json "', '.join('%s %.1f %%' % (f['name'], 100 * f['total_share']) for f in d['functions'][:6])" <"$W/$sampler.json")"
  truth_told "$PORT, $sampler" "$W/$sampler.json" "$W/truth" .03 .03 "$named" || fail "$sampler is off"
  [ "${2:-}" != old ] || at_its_rate "$sampler" || fail "$sampler does not give what is asked"
done
until_true 30 books_are_closed "$PORT-board" || fail "the books do not close: $(api loss)"
api boards >"$W/boards"
say "$(json "' '.join(str(d['boards'][0].get(k)) for k in ('name', 'arch', 'kernel', 'clock'))" <"$W/boards"), enrolled after $(told enrolled) s"
if [ "${CLOCK:-}" = 1970 ]; then
  [ "$(told year)" = 1970 ] || fail "the board's clock was set: $(told year)"
  match='match={service="truth-perf"}'
  api profile --data-urlencode "$match" -d "from=$((began - 2))" -d "to=$(($(date +%s) + 2))" >"$W/meanwhile" || fail "no answer for this run's span"
  api profile --data-urlencode "$match" -d from=0 >"$W/ever" || fail "no answer for all times"
  samples=$(json "d['samples']" <"$W/ever")
  [ "$(json "d['samples']" <"$W/meanwhile")" = "$samples" ] || fail "of $samples samples not all lie in this run's span: $(head -c 300 "$W/meanwhile")"
  say "a board at $(told year): its $samples samples lie in the span of this run"
fi
board_goes_on
board_end || fail "the board did not end well"
say "memory: $(told memory) at first, $(told memory-at-end) kB available at the end"
