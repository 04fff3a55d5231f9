#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An incomplete stack begins with a pseudo-frame for its end, in the tree and in every file.
# Answers, reports and status have the shares of ends; the table has neither the frame nor less
# weight for it.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board
B=$W/board-board
run --service warm -- true >/dev/null 2>&1 || fail "no daemon"

# of SERVICE EXPRESSION: of the table's answer as d.
of() { profile "{service=\"$1\"}" -d limit=100000 | json "$2"; }
has_samples() { [ "$(of "$1" "d['samples'] > 50")" = yes ]; }

for sampler in perf timer; do
  run --service deep-$sampler --sampler $sampler --hz 250 -- "$targets/deep_stack" 1000 800 >/dev/null || fail "deep_stack by $sampler"
  until_true 20 has_samples deep-$sampler || fail "no samples of deep-$sampler"
  [ "$(of deep-$sampler "d['stacks']['truncated'] > .98 and d['stacks']['complete'] == 0")" = yes ] || fail "a deep stack by $sampler: $(of deep-$sampler "d['stacks']")"
  [ "$(of deep-$sampler "[e['module'] for e in d['stacks']['ends_in']][:1] == ['deep_stack'] and 'truncated' in d['stacks']['meanings']")" = yes ] ||
    fail "where it ends: $(of deep-$sampler "d['stacks']")"
  # The frame is no function, everything adds up, and the leaf's weight is unchanged; root sees
  # interrupts above it.
  [ "$(of deep-$sampler "sum(f['self'] for f in d['functions']) == d['total'] and not any(f['name'] == '[truncated]' for f in d['functions'])")" = yes ] ||
    fail "the table by $sampler does not add up"
  [ "$(of deep-$sampler "d['functions'][0]['name'] == 'bottom' and sum(f['self'] for f in d['functions'] if f['name'] == 'bottom' or f['module'] == '[kernel]') > .98 * d['stacks']['weight']")" = yes ] || fail "the leaf by $sampler: $(of deep-$sampler "d['functions'][:2]")"
  profile "{service=\"deep-$sampler\"}" -d format=tree | json "sum(n['self'] for n in d['nodes']) == d['total'] and sum(n['total'] for n in d['nodes'] if n['name'] == '[truncated]' and n['parent'] == 0) == round(d['stacks']['truncated'] * d['stacks']['weight'])" | grep -q yes || fail "the tree by $sampler"
  profile "{service=\"deep-$sampler\"}" -d format=folded | awk -v total="$(of deep-$sampler "d['total']")" -v weight="$(of deep-$sampler "d['stacks']['weight']")" '
    { sum += $NF } /^\[truncated\];descend;/ { cut += $NF } END { exit !(sum == total && cut > .98 * weight) }' || fail "folded stacks by $sampler"
  say "$sampler: $(of deep-$sampler "'%.1f %% truncated, %.1f %% not told' % (100 * d['stacks']['truncated'], 100 * d['stacks']['not_told'])")"
done

# Code with tables is whole; code generated at run time has none, and keeps no frame pointer.
cat >"$W/anon.c" <<'C'
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline, aligned(64))) static void spin(volatile long *n) { while (*n > 0) --*n; }
int main(void) {
  long n = 3000000000;
  char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  memcpy(code, (char *)spin, 128);
  __builtin___clear_cache(code, code + 128);
  ((void (*)(volatile long *))code)(&n);
  return 0;
}
C
cc -O2 -fomit-frame-pointer -o "$W/anon" "$W/anon.c" || fail "no compiler"
run --service whole --sampler perf --hz 250 -- "$targets/truth" 1 >/dev/null || fail "truth"
run --service anon --sampler perf --hz 250 -- "$W/anon" || fail "anon ended with $?"
until_true 20 has_samples whole && until_true 20 has_samples anon || fail "no samples of whole or anon"
known="'truncated'"
if [ "$(of whole "d['stacks']['not_told'] == 1")" = yes ]; then
  without tables "the kernel's events copy no stacks here: they are walked along frame pointers"
else
  known="'complete', 'truncated', 'no_table'"
  [ "$(of whole "d['stacks']['complete'] > .97 and d['stacks']['not_told'] == 0")" = yes ] || fail "truth is not whole: $(of whole "d['stacks']")"
  [ "$(of anon "d['stacks']['no_table'] > .9 and d['stacks']['not_told'] == 0")" = yes ] || fail "code without a table: $(of anon "d['stacks']")"
  [ "$(of anon "[(e['module'], e['end'], 'run time' in e['why']) for e in d['stacks']['ends_in']][0] == ('[anon]', 'no_table', True)")" = yes ] || fail "where it ends: $(of anon "d['stacks']")"
  [ "$(of anon "sum(f['self'] for f in d['functions']) == d['total'] and not any(f['name'] == '[no table]' for f in d['functions'])")" = yes ] || fail "the table of anon does not add up"
  say "truth: $(of whole "'%.1f %% complete' % (100 * d['stacks']['complete'])"); in [anon]: $(of anon "'%.1f %% no table' % (100 * d['stacks']['no_table'])")"
fi

# The board reports the sum, and status each program's shares.
is_told() { [ "$(api boards | json "all(d['boards'][0]['stacks'][end] > .1 for end in ($known,))")" = yes ]; }
until_true 30 is_told || fail "the board tells nothing: $(api boards)"
run --service longer --hz 250 --sampler perf -- "$targets/deep_stack" 1000 8000 >/dev/null 2>&1 &
started+=($!)
shows() { status | grep -q "^ *stacks: 100.0 % truncated"; }
until_true 10 shows || fail "status: $(status)"

# A file without daemon and collector has the same.
fleetprof run --output "$W/deep.fp" --hz 250 -- "$targets/deep_stack" 1000 800 >/dev/null || fail "into a file"
fleetprof report "$W/deep.fp" | grep -qE "^stacks: .*(100|9[0-9]).[0-9] % truncated" || fail "report: $(fleetprof report "$W/deep.fp" | head -n 4)"
fleetprof report "$W/deep.fp" | grep -q "^  truncated: cut before the first function" || fail "report says not why"
[ "$(fleetprof report -f json "$W/deep.fp" | json "d['stacks']['truncated'] > .98 and sum(f['self'] for f in d['functions']) == d['total']")" = yes ] || fail "the file as json"
# Lone PCs are no stacks.
fleetprof run --output "$W/pairs.fp" --collect pc-lr --hz 250 -- "$targets/truth" 0.5 >/dev/null
[ "$(fleetprof report -f json "$W/pairs.fp" | json "d['samples'] > 0 and d['stacks']['weight'] == 0")" = yes ] || fail "pairs have ends"

# The daemon's default differs from the kind that `run` opens events for: neither misinterprets the
# other's samples.
for choice in fp none; do
  enroll $choice
  fleetprofd --state "$B" --collector "127.0.0.1:$A" --unwind $choice || fail "no daemon with --unwind $choice"
  run --service other-$choice --sampler perf --hz 250 -- "$targets/truth" 1 >/dev/null || fail "truth under --unwind $choice"
  until_true 20 has_samples other-$choice || fail "no samples of other-$choice"
  [ "$(of other-$choice "d['stacks']['not_told'] == 1 and not any(f['module'] in ('[anon]', '[unknown]') for f in d['functions'])")" = yes ] ||
    fail "the daemon's --unwind $choice: $(of other-$choice "d['stacks'], [(f['name'], f['module']) for f in d['functions'][:5]]")"
done

# A program that ends before its tables are made: its samples wait for them.
for n in 1 2 3; do
  fleetprof run --output "$W/short.fp" --sampler perf --hz 128 -- /usr/bin/python3 -c 'sum(i * i for i in range(700000))' >/dev/null || fail "a short program ended with $?"
  fleetprof report "$W/short.fp" --format json >"$W/short.json" || fail "no report of a short program"
  [ "$(json "d['samples'] == 0 or d['stacks']['not_told'] == 1 or d['stacks']['no_table'] == 0" <"$W/short.json")" = yes ] || fail "a short program: $(json "d['samples'], d['stacks']" <"$W/short.json")"
done
say "a short program: $(json "'%d samples, %.0f %% complete' % (d['samples'], 100 * d['stacks']['complete'])" <"$W/short.json")"
