#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Frames of hand-written assembler have their true callers, by perf and by timer, for root and for
# an ordinary user. Below a handler is the function that faulted and not the one before it; frames
# are addressed by any register; in a loop that pushes, the frame pointer is used; a stack made by
# hand ends in the function that it was made to return to.
. "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "not run: the frames are those of x86-64"; exit 77; }
cd "$W" || fail "no folder"

# share FILE REGEX: the part of the weight of all stacks whose folded line matches REGEX. Clock time
# is in no stack. A timer's first samples precede the table; they are excluded.
share() {
  fleetprof report "$1" --format folded | RE="$2" awk '/^\[(kernel|unsampled|no table)\]/ { next }
    { all += $NF; stack = $0; sub(/ [0-9]+$/, "", stack) } stack ~ ENVIRON["RE"] { hit += $NF } END { printf "%.3f", all ? hit / all : 0 }'
}
is_at_least() { awk -v is="$1" -v least="$2" 'BEGIN { exit !(is >= least) }'; }

check() { # KIND PART REGEX
  for sampler in perf timer; do
    fleetprof run --output "$1.$sampler.fp" --hz 499 --sampler $sampler -- "$targets/strange_frames" "$1" 800 || fail "$1 ended with $?"
    part=$(share "$1.$sampler.fp" "$3")
    is_at_least "$part" "$2" || fail "$1 by $sampler: only $part in $3: $(fleetprof report "$1.$sampler.fp" --format folded | head -n 3 | cut -c 1-200)"
    say "$1 by $sampler: $part of the stacks are true"
  done
}
check faulted .9 '^_start;.*main;faulted;faults;[^;]*;on_fault;spin'
[ "$(share faulted.perf.fp never_called)$(share faulted.timer.fp never_called)" = 0.0000.000 ] || fail "a function that never ran is in a stack"
check by_reg .9 '^_start;.*main;by_reg;in_(r9|rcx|r11)$'
check calling .9 '^_start;.*main;calling;calls_with_rax;helper$'
check moved .9 '^_start;.*main;moved;popped$'
check pushing .9 '^_start;.*main;pushing;pushes;told_nowhere$'
# By timer only the thread's own stack is read.
fleetprof run --output made.fp --hz 499 --sampler perf -- "$targets/strange_frames" made 800 || fail "made ended with $?"
part=$(share made.fp '^left_behind;first;spin')
is_at_least "$part" .9 || fail "made: only $part end in the function that is returned to: $(fleetprof report made.fp --format folded | head -n 3)"
