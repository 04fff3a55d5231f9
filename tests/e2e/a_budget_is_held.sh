#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# At a requested 4000 Hz, a daemon with a budget of CPU or of bytes lowers the rate until it holds.
# The answer stays right: totals within 1 % of the program's own CPU time, and true shares (by timer
# to one period, which is a second at the minimum rate), also where threads began at another rate.
# The sum of the daemon's CPU time, by the kernel's clocks, and of the samples' cost, by rate times
# cost of a sample, is within the budget's share of the time plus a minute. Where the daemon alone
# costs more than the budget, its state reports that, and samples get a tenth. Sent bytes are within
# the budget. By perf and by timer, as root and as an ordinary user. Without a given budget a
# requested rate is kept, and status reports that.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"

# daemon NAME OPTION...: a board with a daemon of its own.
daemon() {
  name=$1 stolen_before=$(stolen)
  enroll "$1"
  shift
  fleetprofd --state "$B" --collector "127.0.0.1:$A" "$@" || fail "no daemon with $*"
  sleep 2 # the cost of its start is not counted
  daemon_before=$(daemon_cpu)
}
# daemon_cpu: seconds of CPU time that keeper and worker have had, by the kernel.
daemon_cpu() {
  local keeper
  keeper=$(cat "$B/fleetprofd.pid")
  cat "/proc/$keeper/schedstat" "/proc/$(worker)/schedstat" | awk '{ ns += $1 } END { print ns / 1e9 }'
}
# works NAME OPTION...: runs a program that works until it is signalled; ended waits for its end.
works() {
  fleetprof run --state "$B" --collector "127.0.0.1:$A" --service "$1" --hz 4000 "${@:2}" -- "$targets/spin" - >"$W/$1" &
  program=$!
  started+=($program)
}
ended() {
  kill $program
  wait $program || fail "$1: the program ended with $?"
}
sampled() { status --format json | json "len(d['targets'])" | grep -qx 1; }
# rate: the daemon's report of its only target: rate, reason, state of the budget
rate() { status --format json | json "' '.join(str(x) for x in (round(d['targets'][0]['rate_hz']), d['targets'][0]['rate_reason'], d['budget']['state']))"; }
is_lowered() {
  read -r hz reason state < <(rate 2>/dev/null)
  [ "${hz:-4000}" -lt 1000 ] && [ "$reason" = budget ]
}
# The rate is kept, and the state reports that it costs more than the default budget.
is_unheld() { [ "$(rate 2>/dev/null)" = "4000 asked unheld" ]; }
# check SERVICE SECONDS [PERIOD]: the total equals the program's own figure. By timer within one
# period in seconds, because samples beyond the spent time are not taken back. Stolen time is
# included.
check() {
  local spare
  spare=$(awk "BEGIN { print ${3:-0} + $(stolen) - $stolen_before }")
  profile "{service=\"$1\"}" >"$W/answer" || fail "no answer for $1"
  local off
  off=$(json "abs(d['total'] / 1e9 / $2 - 1) <= .01 + $spare / $2" <"$W/answer")
  say "$1: $spare s to spare, total $(json "round(d['total'] / 1e9 / $2, 4)" <"$W/answer"), $(json "d['samples']" <"$W/answer") samples"
  [ "$off" = yes ] || fail "$1: the total is off"
}

# holds PERCENT [ALONE]: the cost of daemon and samples until now is within the budget of a minute,
# of the time since then, and of the two seconds before the first step. Where the state reports that
# the daemon alone costs more (on a busy machine, and always with ALONE), samples are within a
# tenth. Figures of the daemon and the board's page are averages of the last minute, which exceed
# the present cost while they include the start. They must be at least the average cost, and less
# than the requested rate would cost.
holds() {
  local board
  until_true 20 is_told || fail "$name: the board's page has no cost"
  board=$(api boards | json "max((b['cost']['added_cpu'] or 0) for b in d['boards'] if b['name'] == '$name')")
  status --format json >"$W/status"
  /usr/bin/python3 - "$W/status" "$1" "${board:-0}" "$(daemon_cpu)" "$daemon_before" "${2:-}" <<'P' || fail "$name: more than $1 % is spent"
import json, sys
d, budget, board = json.load(open(sys.argv[1])), float(sys.argv[2]) / 100, float(sys.argv[3])
daemon, alone = float(sys.argv[4]) - float(sys.argv[5]), d["budget"]["state"] == "daemon"
t, cost = d["targets"][0], d["cost"]
by_perf = t["sampler"] == "perf"
ns = cost["perf_sample_ns"] if by_perf else cost["signal_ns"] + cost["handler_ns_p50"]
highest = 4000 if by_perf else 1000  # Hz; a timer has the kernel's tick at most
span, samples, added = d["uptime_s"], t["samples"] * ns / 1e9, cost["added_cpu_percent"] / 100
asked = highest * ns / 1e9 + cost["daemon_cpu_percent"] / 100
first = 2 * highest * ns / 1e9
purse = budget * (span + 60)
most = purse / 10 + budget * 60 + first if alone else purse + first
spent = samples if alone else samples + daemon
print(f"  {t['sampler']}: {t['rate_hz']:.0f} Hz ({d['budget']['state']}), {ns} ns a sample; in {span} s samples cost {samples:.3f} s, "
      f"the daemon {daemon:.3f} s, added {100 * added:.3f} % (board {100 * board:.3f} %), purse {purse:.3f} s and {first:.3f} s")
sys.exit(spent > most or (sys.argv[6] != "" and not alone) or not samples / max(span, 60) <= added <= asked or not 0 < board <= asked * 1.5)
P
}
is_taken() { [ "$(status --format json | json "d['budget']['state']")" = daemon ]; }
is_told() { [ "$(api boards | json "any(b['name'] == '$name' and (b['cost']['added_cpu'] or 0) > 0 for b in d['boards'])")" = yes ]; }
start_collector

daemon free
works free
until_true 10 sampled || fail "not sampled"
until_true 30 is_unheld || fail "a rate that was asked for became $(rate) by a default"
status | grep -q "over the budget: the default one does not hold rates that were asked for" || fail "status does not say who spends: $(status)"
ended free

daemon cpu --budget-cpu 0.2% --budget-debug 1 # reading debug files is not in it
works cpu
until_true 60 is_lowered || fail "the rate is $(rate)"
sleep 5
holds 0.2
ended cpu
check cpu "$(cat "$W/cpu")"

daemon tick --budget-cpu 0.02% --budget-debug 1
works tick --sampler timer
until_true 30 is_lowered || fail "timer: the rate is $(rate)"
until_true 30 is_taken || fail "the daemon costs more than 0.02 %, and the state is $(rate)"
status | grep -q "over the budget: the daemon alone takes all of --budget-cpu" || fail "status does not say what is over: $(status)"
holds 0.02 alone
ended tick
check tick "$(cat "$W/tick")" 1 # the floor is 1 Hz

daemon threads --budget-cpu 0.5%
run --service threads --hz 4000 -- "$targets/truth" 10 >"$W/threads" || fail "truth ended with $?"
read -r alpha beta gamma user system <"$W/threads"
check threads "($user + $system)"
# Shares of the named time, within four deviations of the effective samples. A daemon in debt may go
# down to 1 Hz for a while, where one sample stands for a second (218 were seen, of 24 035).
/usr/bin/python3 - "$W/answer" $alpha $beta $gamma <<'P' || fail "the shares are off: $(cat "$W/threads") and $(cat "$W/answer")"
import json, sys
top = json.load(open(sys.argv[1]))
weights = {f["name"]: f["self"] for f in top["functions"]}
shown = [weights.get(name, 0) for name in ("alpha_sixty", "beta_thirty", "gamma_ten")]
off = [abs(w / sum(shown) - float(true)) for w, true in zip(shown, sys.argv[2:])]
most = [4 * (float(true) * (1 - float(true)) / top["effective_samples"]) ** .5 for true in sys.argv[2:]]
print("  off by", [round(x, 4) for x in off], "of at most", [round(x, 4) for x in most])
sys.exit(top["effective_samples"] < 100 or any(x > y for x, y in zip(off, most)))
P
[ "$(json "d['samples'] < 30000" <"$W/answer")" = yes ] || fail "the threads' rate was not lowered: 40000 samples are all, 16000 are made when it falls in the second second, as on a quiet machine"

daemon bytes --budget-cpu 0 --budget-bytes 4K --window 1s # the first window alone is 600 to 900 bytes
works bytes
until_true 30 is_lowered || fail "the rate is $(rate)"
say "bytes: $(rate)"
sleep 5 # windows that the lowered rate fills
ended bytes
sent=$(status --format json | json "d['spool']['bytes_written']")
say "bytes: $sent written"
[ "$sent" -gt 0 ] && [ "$sent" -le 4096 ] || fail "$sent bytes under a budget of 4096"
check bytes "$(cat "$W/bytes")"
