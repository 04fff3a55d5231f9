#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A board with 32 MB of memory: fleetprofd and one sampled program, which constantly starts others,
# run for ten minutes (BOARD_SECONDS) and ship every window. The board's free memory and the
# daemon's memory stay flat: a line fitted to the last two thirds of the readings changes by less
# than 256 kB in ten minutes. The kernel is kernel.sh's and the file system a read-only disk, as on
# a board of that size. Debian's own kernel for the port needs more than 32 MB by itself.
. "$(dirname "$0")/../e2e/lib.sh"
. "$(dirname "$0")/board.sh"
start_collector
seconds=${BOARD_SECONDS:-600}
KERNEL=$("$boards_source/tests/boards/kernel.sh" armhf) || fail "no kernel"
FLASH=1
board_begin armhf
board_install
board_compile truth "$boards_source/tests/targets/truth.c"
TOKEN=$(fleetprof-collector token --data "$W/data" --board small) || fail "no token"
NOW=$(date +%s)
BOARD_ENVIRONMENT="A=$A TOKEN=$TOKEN SECONDS_LONG=$seconds"
board_start "${MIB:-32}" $((seconds + 900)) <<'T'
PATH=/opt/bin:$PATH
B=/var/board
fleetprof enroll --collector "10.0.2.2:$A" --token "$TOKEN" --state $B
fleetprof run --state $B --collector "10.0.2.2:$A" --service small --sampler perf --flush-timeout 60s \
  -- sh -c 'while [ ! -e /tmp/enough ]; do truth .2; sleep 1; done' >/dev/null &
of_daemon() { # kB of its own, both of its processes
  for status in $(grep -l '^Name:.fleetprofd' /proc/[0-9]*/status); do grep RssAnon $status; done | awk '{ s += $2 } END { print s + 0 }'
}
at=0
while [ $at -lt $SECONDS_LONG ]; do
  sleep 10
  at=$((at + 10))
  say "reading $at $(free_kb) $(of_daemon)"
done
touch /tmp/enough
wait
await books
kill "$(cat $B/fleetprofd.pid)"
T
board_awaits books $((seconds + 600)) || { board_end; fail "the board has not done its work"; }
until_true 30 books_are_closed small || fail "the books do not close: $(api loss)"
board_goes_on
board_end || fail "the board did not end well"
say "$(told kernel), memory: $(told memory)kB; $(api loss | json "'%d samples of %d' % (d['stored'], d['produced'])")"
grep '^@ reading ' "$CONSOLE_LOG" | tr -d '\r' >"$W/readings"
/usr/bin/python3 - "$W/readings" <<'P' || fail "the memory is not flat: $(cat "$W/readings")"
import sys
rows = [tuple(map(float, line.split()[2:])) for line in open(sys.argv[1])]
late = rows[len(rows) // 3:]
def moves(column):  # kB in ten minutes, by least squares
    n, x, y = len(late), [r[0] for r in late], [r[column] for r in late]
    mx, my = sum(x) / n, sum(y) / n
    return 600 * sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
free, own = moves(1), moves(2)
print(f"  {len(rows)} readings over {rows[-1][0]:.0f} s: free {rows[0][1]:.0f} kB at first, {rows[-1][1]:.0f} at last, {free:+.0f} kB in ten minutes; "
      f"the daemon {rows[0][2]:.0f}, {rows[-1][2]:.0f}, {own:+.0f}")
sys.exit(not (len(late) >= 3 and free > -256 and own < 256))
P
