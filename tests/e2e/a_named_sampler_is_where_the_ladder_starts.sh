#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --sampler timer for a program that cannot be preloaded (static): however short its life, perf
# samples it, and run, status and report give the reason. A program that drops its agent by an exec
# is soon sampled by perf, and run reports that. Where perf is refused, all of it is [unsampled] and
# that is reported.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
words="timer: static: cannot be preloaded"
note_of() { status --format json | json "[n['sampler'] + ': ' + n['why'] for n in d['notes'] if n['service'] == '$1'][0]"; }
answer() { profile "{service=\"$1\"}" >"$W/$1.json" 2>/dev/null && [ "$(json "d['total'] > 1e8" <"$W/$1.json")" = yes ]; }
share() { json "sum([f['self_share'] for f in d['functions'] if f['name'] == '$2']) > $3" <"$W/$1.json" | grep -qx yes || fail "$1: $(head -c 400 "$W/$1.json")"; }

run --verbose --sampler timer --hz 499 --service named -- "$targets/static" >"$W/out" 2>"$W/err" || fail "the program ended with $?"
grep -q "^fleetprof: by perf: $words$" "$W/err" && grep -qE "^fleetprof: [0-9]{2,} samples by perf, stored" "$W/err" || fail "run: $(cat "$W/err")"
[ "$(note_of named)" = "perf: $words" ] || fail "status: $(note_of named)"
until_true 10 answer named || fail "nothing of it is stored"
share named static_work .8
fleetprof run --state "$B" --collector "127.0.0.1:$A" --verbose --sampler timer --hz 499 --service left -- /usr/bin/env -u LD_PRELOAD "$targets/spin" - >"$W/out" 2>"$W/err" &
program=$!
started+=($program)
is_sampled() { [ "$(status --format json | json "any(t['service'] == 'left' and t['sampler'] == 'perf' and t['samples'] > 20 for t in d['targets'])")" = yes ]; }
until_true 30 is_sampled || fail "what left its agent behind: $(status)"
kill $program # run hands it on
wait $program || fail "env ended with $?"
grep -qE "^fleetprof: [0-9]{2,} samples by (timer and )?perf, stored" "$W/err" || fail "run names who was asked for: $(cat "$W/err")"
# A static child of a dynamic shell.
run --sampler timer --hz 499 --service child -- /bin/sh -c "$targets/static; $targets/static" >"$W/out" || fail "the shell ended with $?"
until_true 10 answer child || fail "nothing of the child is stored"

fleetprof run --verbose --output "$W/a.fp" --sampler timer --hz 499 -- "$targets/static" >"$W/out" 2>"$W/err" || fail "--output: the program ended with $?"
grep -q "^fleetprof: by perf: $words$" "$W/err" && grep -qE "^fleetprof: [0-9]{2,} samples by perf in " "$W/err" || fail "run --output: $(cat "$W/err")"
fleetprof report "$W/a.fp" >"$W/report" || fail "report ended with $?"
grep -q "static_work" "$W/report" || fail "report: $(cat "$W/report")"
fleetprof run --verbose --output "$W/r.fp" --sampler timer --collect recorder -- "$targets/static" >"$W/out" 2>"$W/err" || fail "recorder: the program ended with $?"
grep -q "not sampled, only what it starts: $words; perf: cannot write a recorder" "$W/err" || fail "a recorder of it: $(cat "$W/err")"

refused() { "$targets/refuse_perf" "$@"; }
refused fleetprof run --verbose --output "$W/b.fp" --sampler timer -- "$targets/static" >"$W/out" 2>"$W/err" || fail "refused: the program ended with $?"
grep -q "^fleetprof: not sampled, only what it starts: $words; perf: Permission denied" "$W/err" || fail "refused: $(cat "$W/err")"
fleetprof report "$W/b.fp" >"$W/report" || fail "report ended with $?"
grep -qE "^100.0 %.* \[unsampled\]" "$W/report" || fail "report of what nobody sampled: $(cat "$W/report")"
refused fleetprof run --verbose --output "$W/c.fp" -- "$targets/static" >"$W/out" 2>"$W/err" || fail "auto: the program ended with $?"
grep -qE "not sampled, only what it starts: perf: Permission denied.*; static: cannot be preloaded" "$W/err" || fail "auto: $(cat "$W/err")"
until_true 10 books_are_closed board1 || fail "books $(books board1)"
