#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 44: a program whose own real-time handler is heavy and runs on an alternate stack, interrupted there
# by us and by itself: samples that met a running handler are dropped and counted, nothing else.
ITIMER=1
. "$(dirname "$0")/lib.sh"
HZ=10000
board nested
SAMPLES=20 same "$torture/nested" "$(pick 1 300)"
books_are_exact || fail "the books: $(asked "d['loss']")"
say "lost: $(lost)"
