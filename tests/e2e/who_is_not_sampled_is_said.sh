#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads that a timer cannot sample are counted by reason. A program that replaces our handler runs
# on and its sampler is `none`. No sampled thread is reported as unsampled.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
# A daemon without perf: else it would take that for a program that its timers do not reach.
"$targets/refuse_perf" fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "the daemon does not start"

# A program without a ring runs on silently: the daemon reports it.
for _ in 1 2; do
  LD_PRELOAD=$agent FLEETPROF_SOCKET=$B/fleetprofd.sock FLEETPROF_COLLECT=histogram FLEETPROF_BIN_BYTES=3 /bin/true || fail "a refused program ended with $?"
done
refused="a bin has 2 to 4096 bytes, a counter 1, 2 or 4"
[ "$(status --format json | json "d['intake']['refused_programs']")" = "{'$refused': 2}" ] || fail "refused: $(status --format json | json "d['intake']")"
status | grep -q "refused   2 programs: $refused" || fail "status does not tell of refused programs: $(status)"

row_says() { [ "$(status --format json 2>/dev/null | json "any($2 for t in d['targets'] if t['service'] == '$1')" 2>/dev/null)" = yes ]; }
declare -A program
begin() { # WAY [MORE]: starts a dodger
  run --sampler timer --service "$1" -- "$targets/dodger" "$1" 90 "${@:2}" >"$W/$1.out" &
  program[$1]=$!
}
begin_shared() { # WAY: the same where all threads count together
  run --sampler timer --service "$1-shared" --collect histogram -- "$targets/dodger" "$1" 90 >"$W/$1-shared.out" &
  program[$1-shared]=$!
}
says() { # WAY EXPRESSION: waits until EXPRESSION of its row t holds
  until_true 50 row_says "$1" "$2" || fail "$1: $(status --format json | json "d['targets']")"
  say "$1: $(status --format json | json "[(t['sampler'], t['unsampled'], t['why']) for t in d['targets'] if t['service'] == '$1'][0]")"
}
stop() { kill -TERM "$(status --format json | json "[t['pid'] for t in d['targets'] if t['service'] == '$1'][0]")"; }
ends() { # WAY
  stop "$1"
  wait "${program[$1]}" || fail "$1 ended with $?"
  [ "$(cat "$W/$1.out")" = "done" ] || fail "$1: $(cat "$W/$1.out")"
}

begin raw
says raw "t['unsampled'] == {'raw': 2} and t['sampler'] == 'timer'"
[ "$(status --format json | json "d['loss']['unsampled']")" = "{'raw': 2}" ] || fail "the sum is not that of the only program"
status | grep -q "2 threads without a timer (raw clone" || fail "status does not say it in words"
ends raw
begin cramped
says cramped "'no room for a signal' in t['why'] and 'perf cannot help: ' in t['why']" # before anything was looked at
says cramped "t['unsampled'] == {'no_room': 2} and t['sampler'] == 'timer'"
status | grep -q "not sampled: 2 threads .*no room for a signal" || fail "status does not say it in words"
ends cramped
# The collector's answer, the command line and the end of the run give the reason, too.
says_no_room() { [ "$(profile '{service="cramped"}' 2>/dev/null | json "[m['mark'] for m in d['marks']] == ['no_room'] and 'fleetprof doctor' in d['unsampled_hint']")" = yes ]; }
until_true 10 says_no_room || fail "the collector does not say it: $(profile '{service="cramped"}')"
fleetprof query --http "127.0.0.1:$H" service=cramped >"$W/answer"
grep -q "^cramped: no_room seen: .*16 KiB" "$W/answer" || fail "query does not say it: $(cat "$W/answer")"
grep -q "^\[unsampled\]: " "$W/answer" || fail "query does not say what helps: $(cat "$W/answer")"
run --verbose --sampler timer --service briefly -- "$targets/dodger" cramped 1 >/dev/null 2>"$W/ended"
grep -q "% of its CPU time is \[unsampled\]: not sampled: 2 threads .*no room for a signal" "$W/ended" || fail "run does not say it: $(cat "$W/ended")"
status | grep -Eq " briefly .* % of its CPU time is \[unsampled\]: not sampled: 2 threads" || fail "status does not say how much: $(status)"
"$targets/refuse_perf" fleetprof run --output "$W/cramped.fp" --sampler timer -- "$targets/dodger" cramped 1 >/dev/null || fail "cramped does not run"
fleetprof report "$W/cramped.fp" | grep -q "^not sampled: 2 threads .*no room for a signal.*; perf cannot help: " \
  || fail "report is silent: $(fleetprof report "$W/cramped.fp")"
for way in raw block untimed; do begin_shared $way; done
says raw-shared "t['unsampled'] == {'raw': 2} and t['sampler'] == 'timer'"
ends raw-shared
says block-shared "t['unsampled'] == {'blocked': 2} and t['sampler'] == 'timer'"
ends block-shared
says untimed-shared "t['unsampled'] == {'deleted': 3} and t['sampler'] == 'none'"
ends untimed-shared
for way in block sandbox ignore replace; do begin $way; done
begin exec "$targets/truth"
run --sampler timer -- "$targets/static" 90 >/dev/null &
static=$!
says block "t['unsampled'] == {'blocked': 2} and t['sampler'] == 'timer'"
ends block
says sandbox "t['unsampled'] == {'seccomp': 2} and t['sampler'] == 'timer'"
ends sandbox
says ignore "t['unsampled'] == {'handler_lost': 1} and t['sampler'] == 'none'"
ends ignore
says exec "list(t['unsampled']) == ['exec'] and t['sampler'] == 'none'"
stop exec
wait "${program[exec]}"
begin exec "$targets/static"
says exec "list(t['unsampled']) == ['exec'] and 'by exec (static: cannot be preloaded)' in t['why']"
stop exec
wait "${program[exec]}"
says_static() { [ "$(status --format json | json "any('static: cannot be preloaded' in n['why'] for n in d['notes'] if n['service'] == 'static')")" = yes ]; }
until_true 10 says_static || fail "no word of a static program: $(status --format json | json "d['notes']")"
status | grep -E " static +timer .*static: cannot be preloaded" >/dev/null || fail "status does not say it: $(status)"
kill -TERM "$(status --format json | json "[n['pid'] for n in d['notes'] if n['service'] == 'static'][0]")"
wait $static
says replace "t['unsampled'] == {'handler_lost': 1} and t['sampler'] == 'none' and t['none_for_s'] >= 0"
status | grep -E " replace +none " | grep -q "uses SIGURG itself" || fail "status does not say why nothing is sampled"
# Its time is still in the answer: the time billed by the kernel until now, and until it stops.
read -r spent _ <"/proc/$(status --format json | json "[t['pid'] for t in d['targets'] if t['service'] == 'replace'][0]")/schedstat"
ends replace
has_whole_time() { [ "$(profile '{service="replace"}' 2>/dev/null | json "d['total'] >= .99 * $spent and d['functions'][0]['name'] == '[unsampled]'")" = yes ]; }
until_true 10 has_whole_time || fail "the time of a lost handler is missing: $(profile '{service="replace"}')"

# Data kept in the target, which is not drained continuously, still counts as samples: five CPU
# seconds of each.
declare -A keeper
for mode in histogram recorder; do
  run --sampler timer --service $mode --collect $mode -- "$targets/spin" 60000 >/dev/null &
  keeper[$mode]=$!
done
begin plain
says plain "t['samples'] > 150 and t['sampler'] == 'timer'"
run --sampler timer --service come-and-go -- "$targets/threads" 300 >/dev/null &
others=$!
for _ in 1 2 3 4 5 6; do
  sleep 1
  [ "$(status --format json | json "d['loss']['unsampled'] == {} and not any(t['lock_step'] for t in d['targets'])")" = yes ] \
    || fail "innocents are accused: $(status --format json | json "d['targets']")"
done
ends plain
wait $others
has_run() { read -r spent _ <"/proc/$(status --format json | json "[t['pid'] for t in d['targets'] if t['service'] == '$1'][0]")/schedstat" && [ "$spent" -gt 5000000000 ]; }
for mode in histogram recorder; do
  until_true 60 has_run $mode || fail "$mode does not run"
  says $mode "t['unsampled'] == {} and t['sampler'] == 'timer' and not t['why'].startswith('not')"
  stop $mode
  wait "${keeper[$mode]}"
  [ $? = 143 ] || fail "$mode was not ended by TERM"
done
