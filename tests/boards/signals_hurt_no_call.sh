#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Effects of the timer's signals at the highest rate, on a whole board of another CPU. A fork of a
# program with 256 MiB takes as long as without sampling (none over three times the costliest). It
# also completes on the old kernel, where a careless timer would restart it forever. No call that
# kernels never restart is interrupted. Where CPU timers expire in the tick's interrupt (32-bit ARM
# and MIPS, any kernel before 5.9), at most five in a thousand are.
#
#   signals_hurt_no_call.sh PORT [old]     old: kernel.sh's kernel, HZ=100 and CPU timers expiring in the interrupt
. "$(dirname "$0")/../e2e/lib.sh"
. "$(dirname "$0")/board.sh"
port=${1:-armhf}
[ "${2:-}" != old ] || KERNEL=$("$boards_source/tests/boards/kernel.sh" "$port") || fail "no kernel"
board_begin "$port"
board_install
for program in fork_storm eintr; do board_compile $program "$boards_source/tests/torture/targets/$program.c"; done
board_compile truth "$boards_source/tests/targets/truth.c"
[ "$PORT" = mipsel ] && PARENT_MIB=${PARENT_MIB:-64} # malta has 256 MB that its kernel can use
BOARD_ENVIRONMENT="TIMER_HZ=${TIMER_HZ:-997} FORKS=${FORKS:-200} EINTR_SECONDS=${EINTR_SECONDS:-20} PARENT_MIB=${PARENT_MIB:-256}"
board_boot "${MIB:-768}" "${SECONDS_MOST:-900}" <<'T' || fail "the board did not end well"
PATH=/opt/bin:$PATH
B=/var/board
fleetprofd --state $B --collector 127.0.0.1:9
answers_within 60 fleetprof status --state $B
sampled() { fleetprof run --state $B --flush-timeout 0s --sampler timer --hz $TIMER_HZ -- "$@"; }
say forks-alone "$(fork_storm $FORKS $PARENT_MIB 600)"
say forks-sampled "$(sampled fork_storm $FORKS $PARENT_MIB 600)"
fork_storm 3 $PARENT_MIB 20 100 >/tmp/careless || true
say forks-careless "$(cat /tmp/careless)"
say calls-alone "$(eintr $EINTR_SECONDS | tail -n 1)"
sampled eintr $EINTR_SECONDS >/tmp/sampled || true
say calls-sampled "$(tail -n 1 /tmp/sampled)"
cat /tmp/sampled
sampled truth 10 >/tmp/truth
fleetprof status --state $B
say produced "$(fleetprof status --state $B --format json | tr ',{' '\n\n' | awk -F: '/"produced"/ { print $2; exit }')"
kill "$(cat $B/fleetprofd.pid)"
T
say "$(told kernel), booted in $(told booted) s"
for what in forks-alone forks-sampled forks-careless calls-alone calls-sampled produced; do say "$what: $(told $what)"; done
# Compares the costliest fork. Where the board's clock is the host's (board.sh), single forks are
# disturbed, so it compares the median.
[ -n "$ICOUNT" ] && which=costliest || which=middle
fork_us() { told "$1" | sed -n "s/.* \([0-9]*\) us the $which.*/\1/p"; }
alone=$(fork_us forks-alone) sampled=$(fork_us forks-sampled)
[ "${alone:-0}" -gt 0 ] && [ "${sampled:-0}" -gt 0 ] || fail "the forks did not end"
[ "$sampled" -le $((3 * alone)) ] || fail "a fork took more than three times as long under the timer"
# "12 of 4348 calls of 10 kinds interrupted"
[ "$PORT" = arm64 ] && [ "${2:-}" != old ] && allowed=0 || allowed=5
told calls-sampled | awk -v allowed=$allowed '{ exit !($3 > 0 && 1000 * $1 <= allowed * $3) }' \
  || fail "over $allowed calls in a thousand are interrupted: $(tr -d '\r' <"$CONSOLE_LOG" | grep interrupted)"
[ "$(told produced)" -gt 100 ] || fail "it was hardly sampled: $(told produced)"
if [ "${2:-}" = old ]; then
  careless=$(fork_us forks-careless)
  [ "${careless:-$((4 * alone))}" -gt $((3 * alone)) ] || fail "this kernel has not the hazard that it was built for: $(told forks-careless)"
fi
