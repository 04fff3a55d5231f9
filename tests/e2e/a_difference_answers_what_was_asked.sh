#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Differences of files: a new function is found by the time of its callees, the program has its own
# verdict, and a function whose share changed only because of others is not blamed. One short run a
# side is unclear, with the reason. A gate checks increases, or both directions, and passes a
# function that was renamed, split or inlined. Each side may be several runs, and CPU time may be
# divided by a unit that the user names.
#
# A run's duration depends on other load of the machine. Where two runs must be alike, they are
# compared by CPU time per CPU time (even), and functions by the ratio of two that do the same work.
. "$(dirname "$0")/lib.sh"
export HOME=$W/home TMPDIR=$W/tmp
mkdir -m 700 "$W/home" "$W/tmp"
unset XDG_STATE_HOME XDG_RUNTIME_DIR
cd "$W" || fail "no folder"

# The same orders are handled; a later release also checks each, in functions called by check(). The
# other variants are the first, written differently.
cat >shop.c <<'C'
#include <stdlib.h>
static volatile unsigned long sink;
#define PART __attribute__((noinline, noclone)) static void
#define INLINE __attribute__((always_inline)) static inline void
#define SPIN(n) { unsigned long x = sink | 1; for (long i = 0; i < n; i++) x = x * 6364136223846793005UL + 1442695040888963407UL; sink = x; }
PART parse(void) SPIN(PARSE)
PART stock(void) SPIN(10000)
#if defined(SPLIT)
PART rounded(void) SPIN(20000)
PART price(void) { SPIN(10000) rounded(); sink++; }
#elif defined(RENAMED)
PART cost(void) SPIN(30000)
#define price cost
#elif defined(INLINED)
INLINE price(void) SPIN(30000)
#else
PART price(void) SPIN(PRICE)
#endif
#ifdef CHECKS
PART check_goods(void) SPIN(CHECKS)
PART check_limit(void) SPIN(CHECKS)
PART check(void) { check_goods(); check_limit(); sink++; }
#endif
#ifdef MOVED
PART first(void) { SPIN(2000) }
PART second(void) { SPIN(2000) stock(); sink++; }
#else
PART first(void) { SPIN(2000) stock(); sink++; }
PART second(void) { SPIN(2000) }
#endif
PART order(void) {
  parse(), price(), first(), second();
#ifdef CHECKS
  check();
#endif
  sink++;
}
int main(int argc, char **argv) {
  for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) order();
  return 0;
}
C
# build NAME MACRO...
build() { cc -O1 -fno-omit-frame-pointer -DPARSE=${PARSE:-20000} -DPRICE=${PRICE:-30000} -o "shop-$1" "${@:2}" shop.c || fail "no build of $1"; }
profile() { fleetprof run --output "$1.fp" --hz 499 --sampler perf -- "./shop-$2" "$3" || fail "shop-$2 ended with $?"; }
build old
build checks -DCHECKS=40000 # two and a quarter times as much
for name in split renamed inlined moved; do build $name "-D${name^^}"; done
PARSE=38000 PRICE=12000 build swapped # parse() takes twice as much, price() as much less
compare() { fleetprof report "$1.fp" --diff "$2.fp" "${@:3}" -f json; }
# There are few stretches of time if other programs slow a run down for a while: then the run is
# repeated.
is_clear() { compare old "$1" | json "not any('short' in (f['doubt'], f['total']['doubt']) for f in d['functions'] if max(f['total']['a'], f['total']['b']) > .05)" | grep -qx yes; }
clearly() { # NAME PROGRAM ROUNDS
  for _ in 1 2 3; do
    profile "$@"
    is_clear "$1" && return
  done
  say "$1 has few stretches of time after three runs"
}
profile old old 64000
clearly old2 old 64000
is_clear old2 || { profile old old 64000; clearly old2 old 64000; }
for name in checks split renamed inlined moved swapped; do clearly $name $name 64000; done
profile checks2 checks 32000
profile short old 500

row="[f for f in d['functions'] if f['name'] == '%s'][0]"
# of NAME EXPRESSION: evaluates it for the row r of that function.
of() { json "(lambda r, d: $2)($(printf "$row" "$1"), d)"; }
is() { [ "$1" = yes ] || fail "$2: $(head -c 3000 answer)"; }

compare old checks >answer
is "$(of check "r['total']['verdict'] == r['cpu']['verdict'] == 'new' and r['verdict'] != 'new'" <answer)" "check() by its callees"
is "$(of check ".4 < r['total']['b'] < .7 and r['b'] < .05" <answer)" "check() takes more than half, and nothing itself"
is "$(json "1.4 < d['whole']['ratio'] < 4 and d['whole']['verdict'] == 'changed' and d['whole']['unit'] == 'run'" <answer)" "more than twice as much"
is "$(of price "r['total']['verdict'] == 'changed' and r['total']['difference'] < -.15" <answer)" "price() has a smaller share"
is "$(json "(lambda cpu: .8 < cpu['price'] / cpu['parse'] < 1.25 and cpu['price'] < .8 * d['whole']['ratio'])({f['name']: f['cpu']['ratio'] for f in d['functions']})" <answer)" "price() and parse() do the same work as before"
is "$(json "(d['measure'], d['of'], d['scope']) == ('cpu', 'total', 'these') and d['basis']['a_unit'] == 'stretches of time' and d['basis']['a_units'] >= 12" <answer)" "what verdicts rest on"
is "$(json "all(f[k]['detectable'] is None or f[k]['detectable'] >= 0 for f in d['functions'] for k in ('total', 'cpu'))" <answer)" "what would have been seen"
[ "$(json "len(d['functions']) == d['count']" <answer)" = yes ] && [ "$(compare old checks -n 1 | json "len(d['functions'])")" = 1 ] || fail "rows are missing: $(head -c 900 answer)"
# The table has the same figures.
fleetprof report old.fp --diff checks.fp >table || fail "no table"
json "'whole: %.2f s -> %.2f s of CPU per run, %+.1f %%' % (d['whole']['a'], d['whole']['b'], 100 * d['whole']['ratio'] - 100)" <answer >want
grep -qF -f want table && grep -q '^whole: .*  changed$' table || fail "the whole is not $(cat want): $(head -n 8 table)"
of check "'%.1f %%  %s  check ' % (100 * r['cpu']['b'] / d['whole']['a'], 'new')" <answer >want
grep '  new      check  (' table | grep -q " $(sed 's/ .*//' want) %" || fail "check() is not $(cat want): $(head -n 12 table)"
grep -q '^rows: CPU of totals per run, as a part of all that a takes$' table && grep -q '^intervals: by .* stretches of time of .*; about these two runs$' table || fail "no basis: $(head -n 8 table)"
grep -q '^runs: 1 of a, 1 of b$' table || fail "how many runs: $(head -n 8 table)"

# gate STATUS TEXT A B [MORE]: a gate of A and B ends with STATUS and prints TEXT.
gate() {
  local got=0
  fleetprof report "$3.fp" --diff "$4.fp" "${@:5}" >table 2>err || got=$?
  [ "$got" = "$1" ] || fail "a gate of ${*:3} ends with $got and not $1: $(cat err; head -n 12 table)"
  [ -z "$2" ] || grep -q "$2" err || fail "a gate of ${*:3} does not say '$2': $(cat err)"
}
gate 3 'all CPU per run has changed by +[0-9.]* %, more than --fail-over 6%' old checks --fail-over 6%
grep -q 'check is new and has changed by +[0-9.]* points (CPU of totals per run), more than .*; and so its callers: .*order' err || fail "which function, and its callers: $(cat err)"
! grep -q 'report: \(main\|_start\|order\) ' err || fail "callers are failures of their own: $(cat err)"
grep -q '^gate: failed, --fail-over 6%$' table || fail "the table has no result: $(tail -n 3 table)"
compare old checks --fail-over 6% >answer 2>err && fail "a gate passes as JSON"
is "$(json "(lambda g: not g['passed'] and g['whole_failed'] and g['limit'] == .06 and any(f['name'] == 'check' and f['change'] > .2 and 'order' in f['callers'] for f in g['failures']))(d['gate'])" <answer)" "the gate as JSON"
gate 3 'check_goods is new and has changed by +[0-9.]* points (CPU of self per run)' old checks --of self --fail-over 6%
gate 0 '' checks old --fail-over 20%
[ ! -s err ] || fail "a decrease is reported: $(cat err)"
grep -q '^gate: passed, --fail-over 20%; an increase of all CPU per run by ' table || fail "what would have been found: $(tail -n 3 table)"
gate 3 'check is gone and has changed by -[0-9.]* points' checks old --fail-over 20% --both
# Shares of parse() and price() fall by 18 and 27 points, and neither does less; back, they rise by as much.
gate 3 'has changed by' old checks --measure share --fail-over 15% --both
! grep -q 'price \|parse ' err || fail "dilution is blamed: $(cat err)"
gate 0 'note: price.*: the share \(alone has changed, for what others take; CPU per run has not\|has changed by .*; CPU per run by .*, which is unclear (detectable: .*)\): passed' checks old --measure share --fail-over 20%

# even STATUS TEXT B MEASURE: the same CPU time on both sides, regardless of other load.
even() {
  local units=($(compare old "$3" -n 1 | json "'%d %d' % (d['a_total'], d['b_total'])"))
  gate "$1" "$2" old "$3" --fail-over 6% --unit ns --a-units "${units[0]}" --b-units "${units[1]}" "${@:4}"
}
for measure in "cpu" "share"; do
  even 0 'note: cost (+[0-9.]* points): it stands in place of price, which is gone: [0-9.]* of [0-9.]* points moved, which is no growth.*: passed' renamed --measure $measure
  even 0 'note: rounded (+[0-9.]* points): price did that itself before' split --measure $measure
  even 0 'note: second (+[0-9.]* points): what it calls was called by others before' moved --measure $measure
  even 0 '' inlined --measure $measure
  even 3 'parse has changed by +' swapped --measure $measure
done
even 0 'note: order (+[0-9.]* points): price, which is gone, did that before' inlined --of self
even 3 'parse has changed by +' swapped --of self
! grep -q '^whole: .*  changed$' table || fail "CPU per CPU time has changed: $(head -n 6 table)"

# Both sides may be several runs.
fleetprof report old.fp old2.fp --diff checks.fp --diff checks2.fp >table || fail "several runs"
grep -q '^runs: 2 of a, 2 of b$' table && grep -q 'b = checks.fp and 1 more: ' table && grep -q '; about these runs$' table || fail "runs of either side: $(head -n 6 table)"
fleetprof report old.fp --diff checks.fp --diff checks2.fp -f json >answer || fail "runs of b"
is "$(json "d['units']['a_runs'] == 1 and d['units']['b_runs'] == 2 and abs(d['whole']['b'] * 2e9 / d['b_total'] - 1) < 1e-6" <answer)" "two runs of b"

# refused TEXT WORD...: with status 2.
refused() {
  local got=0
  fleetprof report "${@:2}" >table 2>err || got=$?
  [ "$got" = 2 ] && grep -qF -- "$1" err && [ "$(wc -l <err)" = 1 ] && [ ! -s table ] || fail "report ${*:2}: $got: $(cat err)"
}
refused 'checks2.fp: of which side? It stands behind --diff' old.fp --diff checks.fp checks2.fp
refused 'old.fp: of which side?' --diff checks.fp old.fp old2.fp
refused 'old.fp: of which side?' --diff=checks.fp old.fp old2.fp --fail-over 6%
refused './old.fp: is on both sides' ./old.fp --diff checks.fp --diff old.fp
refused '--diff: is empty' old.fp --diff ''
refused '--diff: is shown as top or json' old.fp --diff checks.fp --diff checks2.fp -f folded
fleetprof report --diff checks.fp old.fp >table || fail "one file is side a, wherever it stands"

# A unit of the user's: half as many requests make twice as much of each.
fleetprof report old.fp --diff old.fp --unit request --a-units 2e3 --b-units 1000 >table || fail "a unit"
grep -q '^units: 2000 request of a, 1000 of b$' table && grep -q '^whole: .* of CPU per request, +100.0 % ' table && grep -q '^rows: CPU of totals per request, in CPU time of the function$' table && grep -Eq '^ *[0-9.]+ [mu]s  +[0-9.]+ [mu]s  +[+][0-9.]+ [mu]s .* price ' table || fail "CPU per request: $(head -n 7 table)"
compare old old --unit request --a-units 2000 --b-units 1000 >answer
is "$(of price "r['cpu']['unit'] == 'request' and abs(r['cpu']['a'] * 2000 / d['a_total'] * 1e9 - r['total']['a']) < 1e-9 and abs(r['cpu']['ratio'] - 2) < 1e-9" <answer)" "price() per request"
gate 3 'all CPU per request has changed by +100.0 %' old old --unit request --a-units 2000 --b-units 1000 --fail-over 6%
for value in 0 -1 nan inf '' ten 1e99 1e-300; do
  refused "--b-units: \"$value\" is" old.fp --diff checks.fp --unit request --a-units 1 --b-units="$value"
done
refused '--b-units: is missing' old.fp --diff checks.fp --unit request --a-units 1
refused '--unit: is missing' old.fp --diff checks.fp --a-units 1 --b-units 1
for name in run board-hour; do refused "--unit: \"$name\" is counted without" old.fp --diff checks.fp --unit $name --a-units 1 --b-units 1; done
refused '--unit: "" is empty' old.fp --diff checks.fp --unit= --a-units 1 --b-units 1
refused '--unit, --a-units and --b-units: of what?' old.fp --unit request --a-units 1 --b-units 1

# A run of a fraction of a second has too few stretches of time, however many samples it has.
fleetprof report checks.fp --diff short.fp --measure share >table || fail "a short run"
grep -q '^too few independent stretches of time: [0-9]*, 12 are needed: let it run longer$' table && ! grep -q ' % .* \(changed\|new\|gone\|same\)  ' table || fail "a short run: $(cat table)"
compare checks short >answer
is "$(of check "r['total']['doubt'] == 'short' and r['total']['verdict'] == 'unclear' and r['total']['detectable'] is None" <answer)" "a short run"
gate 0 'note: unclear, beyond --fail-over: .*price (+[0-9.]* points).*: there are too few independent stretches of time' checks short --measure share --fail-over 6%
grep -q '^gate: passed, .*; no increase of all CPU per run would have been found, of a function none (4 times of 5)$' table || fail "a gate that sees nothing does not say so: $(tail -n 2 table)"

# A file named twice counts as one run.
compare old checks | json "d['whole']['a']" >once
fleetprof report old.fp old.fp --diff checks.fp --format json 2>err | json "d['whole']['a']" >twice
cmp -s once twice && grep -q "counted once" err || fail "named twice: $(cat once twice err)"
got=0
fleetprof diff ./old.fp ./checks.fp 2>err || got=$?
[ "$got" = 2 ] && grep -q 'these are files: fleetprof report A.fp --diff B.fp' err || fail "diff of files: $got: $(cat err)"
