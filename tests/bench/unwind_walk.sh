#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cost of a walk by tables with the handler's code: instructions by callgrind, then nanoseconds.
#
#   tests/bench/unwind_walk.sh BUILD
set -eu
bench=${1:?the build directory}/tests/bench/walk_cost
count=1000
instructions() { # instructions FRAMES: of one walk
  local total
  total=$(valgrind --tool=callgrind --toggle-collect=unwind_walk --callgrind-out-file=/dev/null \
    "$bench" callgrind $count "$1" 2>&1 | sed -n 's/.*Collected : //p')
  echo $((total / count))
}
one=$(instructions 1)
twenty=$(instructions 20)
echo "1 frame: $one instructions"
echo "20 frames: $twenty instructions, $(((twenty - one) / 19)) a frame"
"$bench"
