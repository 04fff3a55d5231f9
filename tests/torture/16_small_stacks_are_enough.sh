#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 16: threads with PTHREAD_STACK_MIN, with small alternate stacks, and on stacks of the program's
# own without room for a signal frame, vector registers in use. If a signal frame does not fit, a
# thread is not sampled by timer, and status counts it.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
ms=$(pick 100 20000)
board small
by_agent=0
for sampler in "${samplers[@]}"; do [ "$sampler" = perf ] || by_agent=$((by_agent + 1)); done
# listed COUNT COMMAND...: as `same`, and so many of its threads are counted whenever the agent is in it.
listed() {
  local count=$(($1 * by_agent)) before
  shift
  before=$(asked "d['loss']['threads_unsampled']")
  same "$@"
  is_counted() { [ $(($(asked "d['loss']['threads_unsampled']") - before)) = $count ]; }
  until_true 5 is_counted || fail "$*: $(($(asked "d['loss']['threads_unsampled']") - before)) threads are counted as unsampled, not $count"
}
SAMPLES=3 listed 0 "$torture/small_stacks" min "$ms"
SAMPLES=3 listed 0 "$torture/small_stacks" alt least "$ms"
for bytes in 8192 16384 65536; do listed 0 "$torture/small_stacks" alt $bytes "$ms"; done
listed 4 "$torture/small_stacks" alt 0 "$ms" # MINSIGSTKSZ: the frame may fit, the handler does not
SAMPLES=3 listed 0 "$torture/own_stack" "$ms"
if compile "$W/small_musl" musl-gcc -D_GNU_SOURCE -O2 "$torture_sources/small_stacks.c"; then
  listed 4 "$W/small_musl" min "$ms" # 2 KiB: less than a signal frame
fi
if grep -qw amx_tile /proc/cpuinfo; then
  # Frames grow once the program has requested AMX. If a stack lacks room for those, timer sampling
  # of the process stops, and is counted once.
  SAMPLES=1 listed 1 "$torture/small_stacks" tiles least 300
  SAMPLES=3 listed 0 "$torture/small_stacks" tiles 16384 300
else
  without AMX "this CPU has none"
fi
grep -q -m1 avx512f /proc/cpuinfo || without "AVX-512" "this CPU has none; its widest registers were used"
without "SVE" "no aarch64 board or emulator here"
