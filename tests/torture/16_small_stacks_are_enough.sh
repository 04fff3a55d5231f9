#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 16: threads with PTHREAD_STACK_MIN, with small alternate stacks, and on stacks of the program's own that have no
# room for a signal frame, vector registers in use.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
ms=$(pick 60 20000)
board small
SAMPLES=3 same "$torture/small_stacks" min "$ms"
for bytes in 0 8192 16384 65536; do same "$torture/small_stacks" alt $bytes "$ms"; done
SAMPLES=3 same "$torture/own_stack" "$ms"
if compile "$W/small_musl" musl-gcc -D_GNU_SOURCE -O2 "$torture_sources/small_stacks.c"; then
  same "$W/small_musl" min "$ms" # 2 KiB: less than a signal frame with AVX-512, so not sampled
fi
grep -q -m1 avx512f /proc/cpuinfo || without "AVX-512" "this CPU has none; its widest registers were used"
without "SVE" "no aarch64 board or emulator here"
