#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# LD_PRELOAD alone: samples when a daemon runs, nothing at all when none does.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
mkdir "$W/empty"
export XDG_RUNTIME_DIR=$W/empty
quiet() { FLEETPROF_SOCKET=$1 strace -f -e trace=timer_create,rt_sigaction -o "$W/trace" env LD_PRELOAD="$agent" "$targets/truth" 0.2 >"$W/out" 2>"$W/err"; }
quiet "$W/empty/none.sock" || fail "without a daemon the program ended with $?"
[ ! -s "$W/err" ] || fail "without a daemon it wrote: $(cat "$W/err")"
! grep -q timer_create "$W/trace" || fail "without a daemon a timer was armed"
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
FLEETPROF_SOCKET="$B/fleetprofd.sock" LD_PRELOAD="$agent" "$targets/truth" 3 >"$W/out" 2>"$W/err" || fail "the program ended with $?"
[ ! -s "$W/err" ] || fail "it wrote: $(cat "$W/err")"
has_samples() { [ "$(profile '{service="truth"}' 2>/dev/null | json "d['samples']")" -ge 100 ]; }
until_true 15 has_samples || fail "too few samples: $(profile '{service="truth"}' | head -c 300)"
say "$(profile '{service="truth"}' | json "str(d['samples']) + ' samples'")"
FLEETPROF=0 FLEETPROF_SOCKET="$B/fleetprofd.sock" strace -f -e trace=timer_create -o "$W/trace" env LD_PRELOAD="$agent" "$targets/truth" 0.1 >/dev/null
! grep -q timer_create "$W/trace" || fail "FLEETPROF=0 does not switch it off"
