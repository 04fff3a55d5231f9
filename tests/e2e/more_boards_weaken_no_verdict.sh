#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A release that calls a new function is found on one board, and also beside a second board of the
# old release. API, command line and a profile in a file have the same figures; verdicts about so
# few boards are about these boards only.
. "$(dirname "$0")/lib.sh"
cat >"$W/app.c" <<'C'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
#define PART __attribute__((noinline, noclone)) static void
#define SPIN(n) unsigned long x = sink | 1; for (long i = 0; i < n; i++) x = x * 6364136223846793005UL + 1442695040888963407UL; sink = x
PART parse(void) { SPIN(20000); }
PART price(void) { SPIN(30000); }
PART check_stock(void) { SPIN(25000); }
PART check(void) { check_stock(); sink++; }
int main(int argc, char **argv) {
  /* until the file is there, or, of CPU time, for the seconds that are given */
  while (access(argv[1], F_OK) != 0 && (atof(argv[1]) <= 0 || clock() < atof(argv[1]) * CLOCKS_PER_SEC))
    for (int i = 0; i < 100; i++) {
      parse(), price();
      if (argc > 2) check();
    }
  return 0;
}
C
cc -O1 -g -fno-omit-frame-pointer -o "$W/app" "$W/app.c" || fail "the compiler"
start_collector
enroll one
one=$B
enroll two
two=$B
# Each start of a run on a board begins a window, and windows are the stretches of time that verdicts go by: the programs run until there are enough.
WINDOWS=30
on() { B=$1 run --service "${@:2}" >/dev/null || fail "run ${*:2}"; }
on "$one" app --label version=1 --hz 250 -- "$W/app" "$W/enough" &
first=$!
on "$one" app --label version=2 --hz 250 -- "$W/app" "$W/enough" checks &
second=$!
on "$two" app --label version=1 --hz 250 -- "$W/app" "$W/enough" &
third=$!
for ((i = 0; i < WINDOWS; i++)); do
  on "$one" tick -- true
  on "$two" tick -- true
  kill -0 $first && kill -0 $second && kill -0 $third || fail "a program has ended"
  sleep 0.5
done
touch "$W/enough"
wait $first || fail "the first program"
wait $second || fail "the second program"
wait $third || fail "the third program"
names() { api diff -d 'a={version="1"}' -d 'b={version="2"}' | json "any(f['name'] == 'check' for f in d['functions'])" | grep -q yes; }
until_true 30 names || fail "no names"

# diff FILE MORE...: as JSON.  gate STATUS TEXT MORE...
question() { api diff -d "a=$1" -d "b=$2" "${@:3}"; }
row="[f for f in d['functions'] if f['name'] == 'check'][0]"
gate() {
  local got=0
  fleetprof diff --http "http://127.0.0.1:$H" "${@:3}" >"$W/table" 2>"$W/err" || got=$?
  [ "$got" = "$1" ] && grep -q "$2" "$W/err" || fail "a gate of ${*:3} ends with $got and not $1: $(cat "$W/err"; head -n 12 "$W/table")"
}
question '{version="1",board="one"}' '{version="2",board="one"}' >"$W/one" || fail "one board"
question '{version="1"}' '{version="2"}' >"$W/two" || fail "two boards"
for answer in one two; do
  [ "$(json "(lambda r: d['scope'] == 'these' and r['total']['verdict'] == 'new' and .2 < r['total']['b'] < .45 and r['verdict'] != 'new')($row)" <"$W/$answer")" = yes ] ||
    fail "$answer: $(head -c 3000 "$W/$answer")"
done
[ "$(json "d['whole']['unit'] == 'board-hour' and d['measure'] == 'share' and d['of'] == 'total'" <"$W/two")" = yes ] || fail "what is compared: $(head -c 1500 "$W/two")"
gate 3 'check\(_stock\)\? is new and has changed by +[0-9.]* points (share of totals), more than --fail-over 10%' version=1,board=one version=2,board=one --fail-over 10%
gate 3 'check\(_stock\)\? is new and has changed by +[0-9.]* points (share of totals), more than --fail-over 10%' version=1 version=2 --fail-over 10%
grep -q '; about these boards$' "$W/table" || fail "which boards: $(head -n 6 "$W/table")"
json "'%.1f %%' % (100 * $row['total']['b'])" <"$W/two" >"$W/want"
grep '  new      check  (' "$W/table" | grep -qF " $(cat "$W/want") " || fail "check() is not $(cat "$W/want"): $(head -n 12 "$W/table")"
json "'whole: .*-> .* of CPU per board-hour, %+.1f %%' % (100 * d['whole']['ratio'] - 100)" <"$W/two" >"$W/want"
sed -i 's/[+.]/[&]/g; s/\[[.]\]\*/.*/g' "$W/want"
grep -q -f "$W/want" "$W/table" || fail "the whole is not $(cat "$W/want"): $(head -n 6 "$W/table")"


# The scope fleet is rejected if each side has a single board.
got=0
fleetprof diff --http "http://127.0.0.1:$H" version=1,board=one version=2,board=one --scope fleet >"$W/table" 2>"$W/err" || got=$?
[ $got != 0 ] && grep -q 'scope: fleet: each side has one board' "$W/err" || fail "a fleet of one board: $got: $(cat "$W/err")"

# CPU time per request, of half as many requests a CPU second on the second side; the same figures from the API, the table and the gate.
units() { json "'%d %d' % (d['a']['total'] / 1e6, d['b']['total'] / 2e6)" <"$W/one"; }
set -- $(units)
question '{version="1",board="one"}' '{version="2",board="one"}' -d unit=request -d a_units=$1 -d b_units=$2 >"$W/unit" || fail "a unit"
[ "$(json "(d['measure'], d['whole']['unit'], $row['cpu']['unit']) == ('cpu', 'request', 'request') and 1.95 < d['whole']['ratio'] < 2.05 and abs($row['cpu']['b'] / d['whole']['b'] - $row['total']['b']) < 1e-6" <"$W/unit")" = yes ] || fail "CPU per request: $(head -c 1500 "$W/unit")"
gate 3 '\(all CPU per request\|check\(_stock\)\? is new and\) has changed by +[0-9.]* .*, more than --fail-over 10%' version=1,board=one version=2,board=one --unit request --a-units $1 --b-units $2 --fail-over 10%
json "'whole: .*-> .* of CPU per request, %+.1f %%' % (100 * d['whole']['ratio'] - 100)" <"$W/unit" >"$W/want"
sed -i 's/[+]/[+]/g' "$W/want"
grep -q -f "$W/want" "$W/table" && grep -q "^units: $1 request of a, $2 of b$" "$W/table" || fail "the table per request: $(head -n 6 "$W/table")"
for bad in "a_units=0&b_units=1" "a_units=-1&b_units=1" "a_units=nan&b_units=1" "a_units=1"; do
  [ "$(curl -s -o "$W/problem" -w '%{http_code}' "http://127.0.0.1:$H/api/v1/diff?unit=request&$bad")" = 400 ] && grep -q '"detail":"[ab]_units: ' "$W/problem" || fail "$bad: $(cat "$W/problem")"
done
got=0
fleetprof diff --http "http://127.0.0.1:$H" version=1,board=one version=2,board=one --fail-over 10% -f json >"$W/json" 2>/dev/null || got=$?
[ $got = 3 ] && [ "$(json "not d['gate']['passed'] and any('check' in [f['name']] + f['callers'] for f in d['gate']['failures'])" <"$W/json")" = yes ] || fail "the gate as JSON: $got: $(tail -c 900 "$W/json")"

# The same program as files: the share of check() is that of its work.
for words in "1" "2 checks"; do
  set -- $words
  fleetprof run --output "$W/$1.fp" --hz 250 -- "$W/app" 3 "${@:2}" || fail "run --output"
done
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < .1 && b - a < .1) }'; }
file=$(fleetprof report "$W/1.fp" --diff "$W/2.fp" -f json | json "$row['total']['b']")
fleet=$(json "$row['total']['b']" <"$W/two")
near "$file" "$fleet" || fail "another share in a file: $file, not $fleet"
