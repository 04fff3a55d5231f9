#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 31: with RLIMIT_SIGPENDING of 8, which all processes of a user share, 200 threads are sampled up
# to the limit. Another program of that user still gets its timers, unsampled threads are counted,
# and the daemon warns of it once.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || not_run "the limit counts whatever else this user runs: root makes a user for it"
HZ=997
user_board limit
limited() { as_user bash -c "ulimit -i 8 && exec \"\$@\"" limited "$@"; }
limited "$torture/wants_timers" 8 >"$W/plain.out" || fail "without us: $(cat "$W/plain.out")"
crowd() {
  limited fleetprof run --state "$B" --flush-timeout 0s --sampler "${samplers[-1]}" --hz $HZ -- "$torture/sleepers" 200 "$1" >"$W/run.out" 2>"$W/run.err" &
  target=$!
}
ends() {
  wait $target || fail "timer: the program ended with $?: $(cat "$W/run.err")"
  [ "$(cat "$W/run.out")" = "200 threads" ] && [ ! -s "$W/run.err" ] || fail "timer: $(cat "$W/run.out" "$W/run.err")"
}
unsampled() { asked "d['loss']['threads_unsampled']"; }
are_counted() { [ "$(unsampled)" -ge "$1" ]; }
crowd 6
until_true 4 are_counted 190 || fail "not counted: $(asked "d['targets']")"
counted=$(unsampled)
[ "$counted" -le 201 ] || fail "$counted threads counted of 201"
second=$(limited "$torture/wants_timers" 2) || fail "the user's second program got $second"
ends
say "$counted of 201 threads counted as unsampled; a second program got $second"
crowd 1
until_true 4 are_counted $((counted + 190)) || fail "the second crowd is not counted: $(unsampled)"
ends
warnings() { grep -c 'threads without a timer: .*ulimit -i' "$B/fleetprofd.log"; }
has_warned() { [ "$(warnings)" -gt 0 ]; }
until_true 5 has_warned || fail "no warning: $(cat "$B/fleetprofd.log")"
[ "$(warnings)" = 1 ] || fail "warned $(warnings) times"
say "warned once: $(grep 'ulimit -i' "$B/fleetprofd.log")"
