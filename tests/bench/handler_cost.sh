#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cost of a sample in the handler: instructions by callgrind, then nanoseconds, with the
# kernel's delivery separately.
#
#   tests/bench/handler_cost.sh BUILD [instructions]
set -eu
bench=${1:?the build directory}/tests/bench/handler_cost
count=1000
while read -r mode depth; do
  total=$(valgrind --tool=callgrind --toggle-collect=control_on_signal --callgrind-out-file=/dev/null \
    "$bench" callgrind $count "$mode" "$depth" 2>&1 | sed -n 's/.*Collected : //p')
  echo "$mode, $depth frames: $((total / count)) instructions"
done <<'ROWS'
stacks 1
stacks 21
pc-lr 1
histogram 1
recorder 1
ROWS
# Lines of 64 bytes that a sample touches with cold caches. Code: lines that most samples execute.
# Data: misses of a swept cache. The signal's frame is not counted: the kernel has just written it.
out=$(mktemp "${TMPDIR:-/tmp}/fleetprof-lines.XXXXXX")
trap 'rm -f "$out"' EXIT
while read -r mode depth; do
  data=$(valgrind --tool=callgrind --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64 --dump-instr=yes \
    --compress-pos=no --toggle-collect=control_on_signal --callgrind-out-file="$out" "$bench" misses 100 "$mode" "$depth" 2>&1 |
    sed -n 's/.*Collected : //p' | awk '{ printf "%.1f", ($8 + $9) / 100 }')
  # The line after `calls=` has the inclusive cost of the call.
  code=$(awk '/^calls=/ { getline; next } /^0x/ && $3 >= 50 { digit = substr($1, length($1) - 1, 1)
    line[substr($1, 1, length($1) - 2) int((index("0123456789abcdef", digit) - 1) / 4)] } END { for (l in line) n++; print n + 0 }' "$out")
  echo "$mode, $depth frames, cold: $code lines of code, $data of data"
done <<'ROWS'
stacks 1
stacks 21
pc-lr 1
histogram 1
recorder 1
ROWS
[ "${2:-}" = instructions ] || "$bench"
