#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 41: guard page, cycle, top of the stack, odd, kernel address, 0, ... in the frame pointer: no
# fault, and the answer reports short stacks.
. "$(dirname "$0")/lib.sh"
HZ=10000
board lies
SAMPLES=15 same "$torture/fp_lies" "$(pick 20 3000)"
books_are_exact || fail "the books: $(asked "d['loss']")"

[ -n "${samplers[1]:-}" ] && sampler=timer || sampler=auto
fleetprof run --output "$W/lies.fp" --sampler $sampler --hz $HZ -- "$torture/fp_lies" 50 >/dev/null || fail "fp_lies ended with $?"
fleetprof report "$W/lies.fp" --format json >"$W/lies.json" || fail "no report"
[ "$(json "d['stacks']['complete'] < 1 and len(d['stacks']['ends_in']) > 0" <"$W/lies.json")" = yes ] || fail "no word of short stacks: $(head -c 1500 "$W/lies.json")"
