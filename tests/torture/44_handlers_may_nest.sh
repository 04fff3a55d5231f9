#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 44: a program with a heavy real-time handler on an alternate stack, interrupted there by our
# signal and its own. Also our handler entered a second time at each of its instructions, as by a
# signal handler that interrupts it: samples that met a running handler are dropped and counted,
# with no other effect.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
board nested
SAMPLES=20 same "$torture/nested" "$(pick 1 100)"
books_are_exact || fail "the books: $(asked "d['loss']")"
[ "$(uname -m)" = x86_64 ] || { without "a second entry at each instruction" "the target steps on x86-64 alone"; exit 0; }
reentered() { asked "d['loss']['dropped'].get('reentry', 0)"; }
before=$(reentered)
is_refused && sampler=auto || sampler=timer
holds_under $sampler "$torture/stepped" "$(pick 5 2000)"
is_counted() { [ "$(reentered)" -gt "$before" ] && books_are_exact; }
until_true 5 is_counted || fail "no second entry is counted: $(asked "d['loss']")"
say "lost: $(lost)"
