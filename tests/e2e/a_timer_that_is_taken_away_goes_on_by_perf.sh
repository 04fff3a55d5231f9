#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that deletes its timers, keeps every signal blocked, or gives threads stacks without
# room for a signal (at once), is then sampled by perf if permitted. If not, status reports that it
# is not sampled, with the reason. A program that blocks its signals for a moment keeps its timer.
# The program is not disturbed, its total stays right, and run names both samplers.
AT_ONCE=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
export SPENT=1
row() { [ "$(status --format json 2>/dev/null | json "any($1 for t in d['targets'] if t['service'] == '$way')" 2>/dev/null)" = yes ]; }
rows() { status --format json | json "[(t['sampler'], t['samples'], t['unsampled'], t['why']) for t in d['targets'] if t['service'] == '$way']"; }
declare -A programs
dodge() { # dodge WAY SECONDS NAME
  way=$3
  run --verbose --sampler timer --hz 199 --service "$way" -- "$targets/dodger" "$1" "$2" >"$W/$way.out" 2>"$W/$way.err" &
  programs[$way]=$!
}
stop() { kill -TERM "$(status --format json | json "[t['pid'] for t in d['targets'] if t['service'] == '$way'][0]")"; }
ends() { # ends NAME
  way=$1
  wait "${programs[$way]}"  || fail "$way ended with $?"
  [ "$(head -n 1 "$W/$way.out")" = "done" ] && [ -z "$(grep -v "^fleetprof: " "$W/$way.err")" ] || fail "$way: $(cat "$W/$way.out" "$W/$way.err")"
  spent=$(tail -n 1 "$W/$way.out")
  profile "{service=\"$way\"}" >"$W/$way.json" || fail "no answer for $way"
  say "$way spent $spent s: $(json "'%.3f' % (d['total'] / 1e9), [(f['name'], round(f['self_share'], 3)) for f in d['functions'][:3]]" <"$W/$way.json")"
  is_all_of "$(json "d['total'] / 1e9" <"$W/$way.json")" "$spent" .01 .02 || fail "$way: the total is wrong"
}
share_of() { json "sum([f['self_share'] for f in d['functions'] if f['name'] == '$1']) $2" <"$W/$way.json" | grep -qx yes; }

fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"
dodge untimed 60 untimed
until_true 10 row "t['sampler'] == 'timer' and t['samples'] > 10" || fail "untimed does not begin by timer: $(rows)"
pid=$(status --format json | json "[t['pid'] for t in d['targets'] if t['service'] == 'untimed'][0]")
until_true 30 row "t['sampler'] == 'perf' and 'the program deleted it' in t['why'] and t['samples'] > 50" || fail "untimed: $(rows)"
[ -z "$(grep ID: "/proc/$pid/timers")" ] || fail "timers beside perf"
[ "$(status --format json | json "len([t for t in d['targets'] if t['service'] == 'untimed'])")" = 1 ] || fail "in two rows at once: $(rows)"
status | grep " untimed " | grep -q "timer: not sampled: .*the timer that it had" || fail "status does not say it in words: $(status)"
sleep 5 # as long as it took to find out
stop
ends untimed
share_of burn "> 0.2" || fail "what came after is not sampled"
grep -qE "^fleetprof: [0-9]+ samples by timer and perf, stored" "$W/untimed.err" || fail "run does not say who sampled it: $(cat "$W/untimed.err")"

dodge cramped 20 cramped
until_true 10 row "t['sampler'] == 'perf' and 'no room for a signal' in t['why'] and t['samples'] > 50" || fail "cramped: $(rows)"
ends cramped
share_of burn "> 0.7" || fail "the threads of the small stacks are not sampled from their start on"

if [ "$(id -u)" = 0 ]; then # it is the same for everyone
  dodge deaf 60 deaf
  until_true 10 row "t['unsampled'] == {'blocked': 3} and t['sampler'] == 'timer'" || fail "deaf: $(rows)"
  dodge moment 60 moment
  until_true 8 row "t['unsampled'] == {'blocked': 1} and t['sampler'] == 'timer'" || fail "a blocked signal is not told: $(rows)"
  until_true 25 row "t['unsampled'] == {} and t['sampler'] == 'timer' and t['samples'] > 50" || fail "it is blocked no more: $(rows)"
  row "'perf' not in t['why']" || fail "moment fell: $(rows)"
  stop
  way=deaf
  until_true 30 row "t['sampler'] == 'perf' and 'with the signal blocked' in t['why'] and t['samples'] > 50" || fail "deaf: $(rows)"
  stop
  ends deaf
  share_of burn "> 0.2" || fail "what came after is not sampled"
  ends moment
fi

# Without permission for perf events.
kill "$(cat "$B/fleetprofd.pid")"
until_true 15 is_gone "$(cat "$B/fleetprofd.pid")" || fail "the daemon does not end"
"$targets/refuse_perf" fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start again"
dodge untimed 60 refused
until_true 30 row "t['sampler'] == 'none' and t['unsampled'] == {'deleted': 3} and 'perf cannot help: ' in t['why']" || fail "refused: $(rows)"
status | grep -E " refused +none " | grep -q "the program deleted it" || fail "status does not say it in words: $(status)"
stop
ends refused
grep -qE "^fleetprof: [0-9]+ samples by timer, stored" "$W/refused.err" || fail "run does not say who sampled it: $(cat "$W/refused.err")"
share_of '[unsampled]' "> 0.3" || fail "what nobody sampled is not told"
books_are_closed board1 || until_true 10 books_are_closed board1 || fail "books $(books board1)"
