#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cost of a sample in instructions, counted from the function that the kernel enters
# (control_on_signal) until it returns: at most 100 for pc-lr, at most 656 for a stack of 21 frames.
# The cost in lines of 64 bytes, code and data, with cold caches: at most 11 for pc-lr, one of them
# the signal's mask, which the kernel has just written. The counts are callgrind's, which the
# machine's load does not change.
#
#   tests/handler_instructions.sh BUILD
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "not run: valgrind, which counts instructions, is not installed"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "not run: the limits are those of x86-64"; exit 77; }
grep -q 'toggle-collect=control_on_signal' tests/bench/handler_cost.sh || { echo "FAILED: not counted from the kernel's entry"; exit 1; }
counted=$(tests/bench/handler_cost.sh "$1" instructions)
echo "$counted"
at_most() { # at_most MODE FRAMES INSTRUCTIONS
  local count
  count=$(sed -n "s/^$1, $2 frames: \([0-9]*\) instructions$/\1/p" <<<"$counted")
  # A handler that refuses the sample is cheap: it takes no less than this to write one.
  [ "${count:-0}" -ge 60 ] || { echo "FAILED: $1, $2 frames: ${count:-no} instructions counted"; exit 1; }
  [ "$count" -le "$3" ] || { echo "FAILED: $1, $2 frames: $count instructions, over $3"; exit 1; }
}
at_most pc-lr 1 100
at_most stacks 21 656
lines=$(sed -n 's/^pc-lr, 1 frames, cold: \([0-9]*\) lines of code, \([0-9.]*\) of data$/\1 \2/p' <<<"$counted")
# Of a hundred samples the first one claims its slot: a tenth of a line each.
awk -v lines="$lines" 'BEGIN { split(lines, n, " "); exit !(n[1] >= 3 && n[2] >= 3 && n[1] + n[2] <= 11.2) }' ||
  { echo "FAILED: a cold sample of pc-lr touches $lines lines of code and data, over 11"; exit 1; }
