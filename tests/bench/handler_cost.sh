#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a sample costs in the handler: instructions by callgrind, then nanoseconds with the kernel's
# delivery taken apart.
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
[ "${2:-}" = instructions ] || "$bench"
