#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A profile of a program with debug information is as good after the next build at the same path as
# before. Inlined functions, lines, and the source's names for clones made by the compiler are in
# the file. So two builds are compared by names of the same source; where that is impossible, no
# difference is called changed for that reason.
. "$(dirname "$0")/lib.sh"
export HOME=$W/home TMPDIR=$W/tmp
mkdir -m 700 "$W/home" "$W/tmp"
unset XDG_STATE_HOME XDG_RUNTIME_DIR
cd "$W" || fail "no folder"

cat >prog.c <<'C'
static volatile unsigned long sink;
#ifdef MOVED
__attribute__((noipa)) static void moved(void) { sink = 7; }
#endif
static inline __attribute__((always_inline)) unsigned long checksum(unsigned long x, long n) {
  while (n-- > 0) x = x * 2862933555777941757UL + 3037000493UL;
  return x;
}
static __attribute__((noinline)) void parse_frame(long n, unsigned long by) {
  unsigned long x = sink;
  for (long i = 0; i < n; i++) x = x * by + 1;
  sink = checksum(x, 2 * n);
}
__attribute__((noipa)) static void encode(long n) {
  unsigned long x = sink;
  while (n-- > 0) x = (x ^ x >> 7) * FACTOR;
  sink = x;
}
int main(void) {
#ifdef MOVED
  moved();
#endif
  for (int i = 0; i < 3600; i++) parse_frame(100000L + i, 6364136223846793005UL), encode(ROUNDS * 100000L);
  return 0;
}
C
build() { cc -O2 -Wl,--build-id "$@" -o prog prog.c || fail "no build"; }
profile() { fleetprof run --output "$1" --hz 997 --sampler perf -- ./prog || fail "prog ended with $?"; }
formats="top flame json folded pprof speedscope callgrind perf-script"
# All reports of before.fp, to FOLDER.
tell() {
  mkdir "$1"
  for format in $formats; do fleetprof report before.fp --format $format >"$1/$format" 2>>"$1/err" || fail "$1: $format: $(cat "$1/err")"; done
  [ ! -s "$1/err" ] || fail "$1: something is said: $(cat "$1/err")"
}
is_told_as_before() {
  for format in $formats; do cmp -s "before/$format" "$1/$format" || fail "$1: $format says other things: $(diff "before/$format" "$1/$format" | head -n 10)"; done
}
# rows NAME: the number of rows of exactly that name in the difference.
rows() { awk -v name="$1" '$(NF - 1) == name || $NF == name { n++ } END { print n + 0 }' diff; }

build -g -DROUNDS=3L -DFACTOR=2654435761UL
nm prog | grep -q ' parse_frame\.constprop' || without "a function that the compiler has cloned" "this one does not"
profile before.fp
tell before
for name in parse_frame checksum encode; do grep -q " $name  *(prog)\| $name\$" before/top || fail "$name is not there: $(head -n 12 before/top)"; done
has_clone() { grep constprop "$1" | grep -qv '(\[kernel\])'; } # the kernel has clones of its own
has_clone before/top && fail "a clone is shown under a name of its own: $(cat before/top)"
say "$(wc -c <before.fp) bytes hold $(fleetprof report before.fp -f json | json "d['samples']") samples with their names and lines"

# strip keeps the build-id and removes the source's names.
cp prog whole && strip -g prog
tell stripped
is_told_as_before stripped
mv whole prog

# The next build: encode does something else, in the same time, and everything has moved.
build -g -DROUNDS=3L -DFACTOR=2246822519UL -DMOVED
tell rebuilt
is_told_as_before rebuilt
profile after.fp
fleetprof report before.fp --diff after.fp >diff 2>err || fail "diff: $(cat err)"
[ ! -s err ] || fail "something is said of a difference: $(cat err)"
for name in parse_frame checksum encode; do [ "$(rows $name)" = 1 ] || fail "$name has $(rows $name) rows: $(cat diff)"; done
! has_clone diff || fail "a clone is a function of its own: $(cat diff)"
# Each of the program's functions has roughly the same part as before. Code placement and other load
# move a dozen points; other names would have moved half.
fleetprof report before.fp --diff after.fp -f json | json "(lambda rows: max(abs(f['a'] / sum(r['a'] for r in rows) - f['b'] / sum(r['b'] for r in rows)) for f in rows) < .2)([f for f in d['functions'] if f['module'] == 'prog'])" | grep -q yes ||
  fail "what takes as long as before has another share: $(cat diff)"

# The build after that: encode takes three times as long, and the others as long as before.
build -g -DROUNDS=9L -DFACTOR=2246822519UL
profile slower.fp
rm prog
tell gone
is_told_as_before gone
fleetprof report before.fp --diff slower.fp >diff 2>err || fail "diff: $(cat err)"
for name in parse_frame checksum encode; do [ "$(rows $name)" = 1 ] || fail "$name has $(rows $name) rows: $(cat diff)"; done
grep ' encode ' diff | grep -q '+.*changed' || fail "encode is three times slower: $(cat diff)"
! grep ' parse_frame \| checksum ' diff | grep -q ' +[0-9.]* % .*changed' || fail "what did not change takes more: $(cat diff)"

# Without debug information on one side the names come from two sources, which is no change of the
# program.
build -DROUNDS=3L -DFACTOR=2246822519UL
profile plain.fp
rm prog
fleetprof report before.fp --diff plain.fp >diff 2>err || fail "diff: $(cat err)"
! grep -q ' % *changed ' diff || fail "names of two kinds are called a change: $(cat diff)"
grep -q '^prog: one side has names of debug information' diff || fail "nobody says why: $(cat diff)"
[ "$(fleetprof report before.fp --diff plain.fp -f json | json "[f['doubt'] for f in d['functions'] if f['name'] == 'checksum']")" = "['unlike']" ] || fail "the same as json"

# Each of these differences as a gate.
gate() { # STATUS TEXT FILE: against before.fp
  local got=0
  fleetprof report before.fp --diff "$3" --fail-over 15% >diff 2>err || got=$?
  [ "$got" = "$1" ] && [ -s diff ] || fail "a gate of $3 ends with $got and not $1: $(cat err diff)"
  grep -q "^fleetprof: report: $2" err || { [ -z "$2" ] && [ ! -s err ]; } || fail "a gate of $3 does not say '$2': $(cat err)"
}
gate 0 '' before.fp
gate 3 'encode has changed by +[0-9.]* points (CPU of totals per run), more than --fail-over 15%' slower.fp
gate 1 '--fail-over: .* cannot be compared, .*: nothing to judge by; give debug files (--debug DIR)' plain.fp
FLEETPROF_FAIL_OVER=1% fleetprof report slower.fp >out 2>err && [ ! -s err ] || fail "a threshold of no difference: $(cat err)"

# A sum of many files keeps each address once.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cp before.fp copy$i.fp; done
fleetprof report copy*.fp before.fp -f folded 2>/dev/null | cmp -s - before/folded || fail "twelve copies of a file are not the file"
