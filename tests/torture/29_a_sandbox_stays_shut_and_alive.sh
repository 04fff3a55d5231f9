#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 29: seccomp filters (strict, KILL_PROCESS, TRAP, ERRNO as libseccomp's default) are installed
# after the start, followed by threads and forks. No process is killed by a system call of ours.
# Existing threads are still sampled: they do twice as much behind the filter as before it, and the
# shares show that. launcher: a vfork child sandboxes itself; its parent's later children and
# threads are sampled as before.
. "$(dirname "$0")/lib.sh"
HZ=5000
ms=$(pick 100 10000)
board sandbox
modes=(kill trap errno launcher)
if is_refused; then
  without strict "what refuses perf here is a filter, and the kernel gives strict mode to nobody who has one"
else
  modes+=(strict)
fi
# Periods are random: four deviations of the possible number of samples.
goes_on() {
  local before behind lost
  recorded "$1" "$torture/sandbox" "$2" "$ms" >"$W/run.out" || fail "$1: $2: ended with $?"
  before=$(told "f['name'] == 'burn_outside'") behind=$(told "f['name'] == 'burn_behind_it'") lost=$(told "f['name'] == '[unsampled]'")
  say "$1: $2: old threads: $before ms before the filter, $behind ms behind it"
  /usr/bin/python3 -c "import sys
before, behind, lost = $before, $behind, $lost
chance = 4 * (4 * max(before, 1)) ** .5  # ms, of ticks of 4 ms
sys.exit(before < 20 or abs(behind - 2 * before) > .2 * behind + chance + 2 * lost)" # what no sample met may be of either || fail "$1: $2: old threads are not sampled on: $(table)"
}
for mode in "${modes[@]}"; do
  SAMPLES=1 same "$torture/sandbox" "$mode" "$ms"
  for sampler in "${samplers[@]}"; do goes_on "$sampler" "$mode"; done
done

# The other way round: a filter from before the program's start, which kills it on a call of the
# agent.
LONE=(env "LD_PRELOAD=$agent" FLEETPROF_SAMPLER=timer)
"$torture/jail" /bin/echo free >"$W/plain.out" || fail "jail ends with $? without us"
same "$torture/jail" /bin/echo free
"${LONE[@]}" "FLEETPROF_SOCKET=$B/fleetprofd.sock" "$torture/jail" /bin/echo free | cmp -s - "$W/plain.out" || fail "a lone preload within a filter"
"${LONE[@]}" "FLEETPROF_SOCKET=$W/nowhere" "$torture/jail" /bin/echo free | cmp -s - "$W/plain.out" || fail "a lone preload within a filter, without a daemon"
say "a filter before the start: nothing is done within it"
