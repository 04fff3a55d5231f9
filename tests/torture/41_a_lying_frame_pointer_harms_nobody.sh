#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 41: guard page, cycle, top of the stack, odd, kernel address, 0, ... in the frame pointer: no fault.
. "$(dirname "$0")/lib.sh"
HZ=10000
board lies
SAMPLES=15 same "$torture/fp_lies" "$(pick 20 60000)"
books_are_exact || fail "the books: $(asked "d['loss']")"
