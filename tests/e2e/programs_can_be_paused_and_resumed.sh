#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fleetprof ctl: a running program is paused (no timer, no samples), resumed, and sampled at another
# rate; it is not disturbed, and its total is its CPU time.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
ctl() { fleetprof ctl "$@" --state "$B"; }
target() { status --format json | json "[t['$1'] for t in d['targets'] if t['service'] == '$service'][0]"; }
timers() { cat "/proc/$pid/timers" "/proc/$child/timers" 2>/dev/null | grep -c '^ID:'; }
timers_are() { [ "$(timers)" = "$1" ]; }
samples_stand() { local a; a=$(target samples); sleep 0.7; [ "$(target samples)" = "$a" ]; }
has_achieved() { [ "$(target achieved_hz | cut -d. -f1)" -ge 150 ]; }
samples_come() { local a; a=$(target samples); sleep 0.7; [ "$(target samples)" -gt "$a" ]; }

ctl pause 2>/dev/null && fail "something obeys although nothing runs"
[ $? = 1 ] || fail "nobody to pause is not exit status 1"
ctl rate fast 2>/dev/null
[ $? = 2 ] || fail "a rate that is no number is not exit status 2"

for sampler in timer perf; do
  service=switched-$sampler
  run --service $service --sampler $sampler --hz 199 -- "$targets/switched" 60 "$W/end-$sampler" >"$W/out" &
  runner=$!
  until_true 10 eval 'pid=$(target pid 2>/dev/null) && [ -n "$pid" ]' || fail "$sampler: no target"
  until_true 5 samples_come || fail "$sampler: no samples"
  child=$(pgrep -P "$pid" | head -n 1)
  [ $sampler = perf ] || until_true 5 timers_are 6 || fail "$sampler: $(timers) timers run, not 6"
  said=$(ctl pause --service $service)
  [ "$said" = "1 target paused: $service (pid $pid)" ] || fail "$sampler: pause: $said"
  [ "$(target state)" = paused ] || fail "$sampler: status does not say paused"
  until_true 5 timers_are 0 || fail "$sampler: $(timers) timers are left in a paused program"
  until_true 5 samples_stand || fail "$sampler: samples come while paused"
  samples_stand || fail "$sampler: samples come while paused"
  sleep 2
  ctl resume --service other 2>"$W/err" && fail "$sampler: another service obeyed"
  grep -q "nobody obeys: no running target has that name; there are: $service$" "$W/err" || fail "$sampler: who is there: $(cat "$W/err")"
  said=$(ctl resume)
  [ "$said" = "1 target resumed: $service (pid $pid)" ] || fail "$sampler: resume: $said"
  [ $sampler = perf ] || until_true 8 timers_are 6 || fail "$sampler: $(timers) timers after resume, not 6"
  until_true 5 samples_come || fail "$sampler: no samples after resume"
  until_true 5 has_achieved || fail "$sampler: the pause counts against the rate: $(target achieved_hz) Hz of 199"
  said=$(ctl rate 49 --service $service)
  [ "$said" = "1 target at 49 Hz: $service (pid $pid)" ] || fail "$sampler: rate: $said"
  sleep 1
  touch "$W/end-$sampler"
  wait $runner || fail "$sampler: the program ended with $?"
  read -r spent interrupted <"$W/out"
  [ "$interrupted" = 0 ] || fail "$sampler: $interrupted waits of sleeping threads were cut short"
  until_true 10 books_are_closed board1 || fail "$sampler: books $(books board1)"
  total=$(profile "{service=\"$service\"}" | json "d['total'] / 1e9")
  unsampled=$(profile "{service=\"$service\"}" | json "sum(f['self'] for f in d['functions'] if 'unsampled' in f['name']) / 1e9")
  is_all_of "$total" "$spent" .01 || fail "$sampler: total $total s of $spent s"
  /usr/bin/python3 -c "import sys; sys.exit(not .1 < $unsampled / $spent < .8)" || fail "$sampler: $unsampled s unsampled of $spent s"
  marks=$(profile "{service=\"$service\"}" | json "' '.join(m['mark'] for m in d['marks'])")
  [[ " $marks " = *" paused "* ]] || fail "$sampler: no mark says that it was paused: '$marks'"
  say "$sampler: $total s of $spent s, $unsampled s of it while paused"
  # Those at 49 Hz have four times the weight of the others: intervals must account for that.
  worth=$(profile "{service=\"$service\"}" | json "d['effective_samples'] / d['samples']")
  /usr/bin/python3 -c "import sys; sys.exit(not .2 < $worth < .97)" || fail "$sampler: samples of unlike weight are worth $worth of their count"
  say "$sampler: the samples are worth $worth of their count"
done

# A program's name is untrusted: none of its control characters reaches a terminal.
evil=$W/$(printf 'e\033[1mvil\nsecond line')
cp "$targets/spin" "$evil"
run -- "$evil" 60000 >/dev/null 2>&1 &
runner=$!
until_true 10 eval 'ctl rate 99 >"$W/said" 2>/dev/null' || fail "no target of that name"
status >>"$W/said"
ctl pause --service nobody 2>>"$W/said" && fail "nobody obeyed"
kill "$(pgrep -P $runner | head -n 1)"
wait $runner
grep -q 'e?\[1mvil' "$W/said" || fail "it is not named: $(cat -v "$W/said")"
! grep -q "$(printf '\033')" "$W/said" || fail "control characters come through: $(cat -v "$W/said")"
