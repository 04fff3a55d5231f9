#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Frames of every kind (tests/bench/frame_kinds.c) as recorded by perf are walked by our tables as by perf
# itself: at least 98 % of the frames are equal, at most 0.5 % of the stacks are bad, and at most 1 % end for want
# of a table.  GCC's own table is wrong at the last instruction of a realigned function, so a stack can be bad.
#
#   tests/stacks_agree.sh BUILD
set -eu
cd "$(dirname "$0")"
command -v perf >/dev/null || { echo "not run: perf (linux-perf) is not installed"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "not run: compared on x86-64 alone"; exit 77; }
trial=$(mktemp "${TMPDIR:-/tmp}/fleetprof-trial.XXXXXX")
trap 'rm -f "$trial"' EXIT
perf record -q -e task-clock:u --call-graph dwarf,16384 -o "$trial" true >/dev/null 2>&1 ||
  { echo "not run: the kernel refuses perf events or stack copies"; exit 77; }
printed=$(KINDS_SECONDS=1 bench/unwind_against_perf.sh "$1" kinds)
printf '%s\n' "$printed"
row=$(grep '^| kinds |' <<<"$printed")
awk -F'|' '{ samples = $3; unknown = $6; bad = $7; equal = $10 }
  END { exit !(samples >= 200 && unknown <= 1 && bad <= .5 && equal >= 98) }' <<<"$row" || { echo "FAILED: $row"; exit 1; }
