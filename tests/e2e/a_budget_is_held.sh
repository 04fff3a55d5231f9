#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Asked for 4000 Hz, a daemon with a budget of CPU or of bytes lowers the rate until it holds; what
# is in the answer is still right: totals within 1 % of the program's own CPU time, shares as they
# are, also where threads go on at the old rate and are thinned out.  Without a budget given, a rate
# that was asked for is left alone.
. "$(dirname "$0")/lib.sh"

# daemon NAME OPTION...: a board with a daemon of its own.
daemon() {
  enroll "$1"
  shift
  fleetprofd --state "$B" --collector "127.0.0.1:$A" "$@" || fail "no daemon with $*"
}
sampled() { status --format json | json "len(d['targets'])" | grep -qx 1; }
# rate: what the daemon says of its one target: rate, reason, state of the budget
rate() { status --format json | json "' '.join(str(x) for x in (round(d['targets'][0]['rate_hz']), d['targets'][0]['rate_reason'], d['budget']['state']))"; }
is_lowered() {
  read -r hz reason state < <(rate 2>/dev/null)
  [ "${hz:-4000}" -lt 1000 ] && [ "$reason" = budget ]
}
# check SERVICE SECONDS: the total is what the program says it has spent.
check() {
  profile "{service=\"$1\"}" >"$W/answer" || fail "no answer for $1"
  local off
  off=$(json "abs(d['total'] / 1e9 / $2 - 1) <= .01" <"$W/answer")
  say "$1: total $(json "round(d['total'] / 1e9 / $2, 4)" <"$W/answer"), $(json "d['samples']" <"$W/answer") samples"
  [ "$off" = yes ] || fail "$1: the total is off"
}

start_collector

daemon free
run --service free --hz 4000 -- "$targets/spin" 4000 >"$W/free" &
program=$!
until_true 10 sampled || fail "not sampled"
sleep 3
read -r hz reason state < <(rate)
wait $program
[ "$hz $reason" = "4000 asked" ] || fail "a rate that was asked for became $hz Hz ($reason) by a default"

daemon cpu --budget-cpu 0.2%
run --service cpu --hz 4000 -- "$targets/spin" 15000 >"$W/cpu" &
program=$!
until_true 60 is_lowered || fail "the rate is $(rate)"
say "cpu: $(rate)"
wait $program || fail "the program ended with $?"
check cpu "$(cat "$W/cpu")"

daemon threads --budget-cpu 0.5%
run --service threads --hz 4000 -- "$targets/truth" 20 >"$W/threads" || fail "truth ended with $?"
read -r alpha beta gamma user system <"$W/threads"
check threads "($user + $system)"
json "max(abs(sum(f['self'] for f in d['functions'] if f['name'] == n) / d['total'] - t) for n, t in (('alpha_sixty', $alpha), ('beta_thirty', $beta), ('gamma_ten', $gamma))) < .04" \
  <"$W/answer" | grep -qx yes || fail "the shares are off: $(cat "$W/threads") and $(cat "$W/answer")"
[ "$(json "d['samples'] < 40000" <"$W/answer")" = yes ] || fail "nothing was thinned"

daemon bytes --budget-cpu 0 --budget-bytes 2K --window 1s
run --service bytes --hz 4000 -- "$targets/spin" 8000 >"$W/bytes" &
program=$!
until_true 30 is_lowered || fail "the rate is $(rate)"
say "bytes: $(rate)"
wait $program || fail "the program ended with $?"
check bytes "$(cat "$W/bytes")"
