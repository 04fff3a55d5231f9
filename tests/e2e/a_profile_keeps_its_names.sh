#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A profile can be read and compared after its program was rebuilt, stripped, or deleted: its names
# were written into it when the run ended. Code without names is reported, and never compared.
. "$(dirname "$0")/lib.sh"
export HOME=$W/home TMPDIR=$W/tmp
mkdir -m 700 "$W/home" "$W/tmp"
unset XDG_STATE_HOME XDG_RUNTIME_DIR
cd "$W" || fail "no folder"

cat >app.c <<'C'
static volatile unsigned long sink;
#define PART __attribute__((noipa)) static void
#define SPIN unsigned long x = sink; while (n-- > 0) x = x * 2862933555777941757UL + 3037000493UL; sink = x
#ifdef ADDED
PART added(long n) { SPIN; }
#endif
PART slower(long n) { SPIN; }
PART steady(long n) { SPIN; }
int main(void) {
#ifdef FOREVER
  for (int i = 0;; i++) {
#else
  for (int i = 0; i < 9600; i++) { // runs of a second or two show too few stretches of time
#endif
    long more = i * 7919L % 100000; // rounds as long as the time between two samples would be sampled in step
    slower(SLOWER * (50000L + more)), steady(250000L + more);
#ifdef ADDED
    added(200000L);
#endif
  }
  return 0;
}
C
build() { cc -O1 -fno-omit-frame-pointer -Wl,--build-id "${@:2}" -o "$1" app.c || fail "no build"; }
profile() { fleetprof run --output "$1" --hz 997 --sampler perf -- "$2" || fail "$2 ended with $?"; }
has_names() { fleetprof report "$@" 2>err | awk '$9 == "slower" || $9 == "steady" { found++ } /\+0x/ && $1 > 1 { bad = 1 } END { exit found != 2 || bad }'; }
# The rows of a function in the difference of two files, and its verdicts.
rows() { awk -v name="$1" '$(NF - 1) == name || $NF == name || index($0, "  " name "  ") { n++ } END { print n + 0 }' diff; }

# If run alone is killed, its daemon ends ten seconds after the program: checked below.
build killed -DSLOWER=1
fleetprof run --output killed.fp --hz 997 --sampler perf -- ./killed 2>/dev/null & run_pid=$!
until_true 10 pgrep -P $run_pid -x killed >/dev/null || fail "no program"
kill -9 $run_pid
wait $run_pid 2>/dev/null

# Built again at the same path between two runs.
build app -DSLOWER=1
profile before.fp ./app
cp before.fp kept.fp
build app -DSLOWER=4 -DADDED
profile after.fp ./app
has_names before.fp || fail "names are lost with the build: $(cat err; fleetprof report before.fp | head -n 5)"
[ ! -s err ] || fail "something is said of a profile that has its names: $(cat err)"
fleetprof report before.fp --diff after.fp >diff 2>err || fail "diff"
[ ! -s err ] || fail "something is said of two profiles that have their names: $(cat err)"
for name in slower steady added; do [ "$(rows $name)" = 1 ] || fail "$name has $(rows $name) rows: $(cat diff)"; done
grep ' slower ' diff | grep -q '+.*changed' && grep ' added ' diff | grep -q '+.* new ' && ! grep ' steady ' diff | grep -q changed || fail "two builds: $(cat diff)"
fleetprof report before.fp --diff after.fp --measure share | grep ' steady ' | grep -q -- '-.*changed' || fail "of shares, steady has not fallen"
! grep -q '+0x[0-9a-f]*$' diff || fail "rows of addresses: $(cat diff)"
fleetprof report before.fp after.fp | awk '$9 == "slower" { n++ } END { exit n != 1 }' || fail "a sum of two builds: $(fleetprof report before.fp after.fp)"
say "$(wc -c <before.fp) bytes hold a run with its names"

# strip keeps the build-id and takes the names; the profile has them.
build app -DSLOWER=1
strip app
fleetprof report before.fp >out 2>err
has_names before.fp && [ ! -s err ] || fail "names are lost with strip: $(cat err out)"

# The program is deleted, as on another machine.
rm app
has_names before.fp && [ ! -s err ] || fail "names are lost with the program: $(cat err)"
mkdir elsewhere && mv before.fp elsewhere/ && (cd elsewhere && has_names before.fp) || fail "a copy has no names"

# A file of a version without names in files: one line reports the missing file and the remedy,
# without -v.
/usr/bin/python3 - kept.fp old.fp <<'PY' || fail "no names at the end of a run's file"
import struct, sys
data, at, kept, names = open(sys.argv[1], "rb").read(), 0, b"", 0
while at < len(data):
    kind, packed = struct.unpack_from("<H", data, at + 6)[0], struct.unpack_from("<I", data, at + 36)[0]
    if kind == 3 and packed > 0:
        names += 1
    else:
        kept += data[at:at + 48 + packed]
    at += 48 + packed
open(sys.argv[2], "wb").write(kept)
sys.exit(names != 1)
PY
has_names old.fp && fail "names come from nowhere"
[ "$(grep -c "$W/app (build-id .*: .* has no function names: it is not here, and the profile holds none; names: " err)" = 1 ] ||
  fail "a program that is gone is not told of: $(cat err)"
build app -DSLOWER=2
fleetprof report old.fp 2>&1 >/dev/null | grep -q "$W/app (build-id .*: another file is there by now" || fail "another build is not told of"

# If fleetprof-symbols cannot run, it is reported as the reason, and no other file is blamed.
build app -DSLOWER=1
mkdir -p broken/lib/fleetprof broken/bin && cp "$FLEETPROF_PREFIX/bin/fleetprof" broken/bin/ || fail "no copy"
printf '#!/bin/sh\nexit 127\n' >broken/lib/fleetprof/fleetprof-symbols && chmod +x broken/lib/fleetprof/fleetprof-symbols
broken/bin/fleetprof report old.fp >out 2>err
grep -q "$W/app: .* has no function names: lib/fleetprof/fleetprof-symbols does not answer (.*): start it by hand" err || fail "a broken fleetprof-symbols is not reported: $(cat err)"
build app -DSLOWER=2

# Without names two builds are not compared with each other: neither as functions nor as addresses.
fleetprof report old.fp --diff after.fp >diff 2>err || fail "diff without names"
grep -q 'app (build-id .*: .* has no function names: ' err || fail "names that are missing in a difference are not told of: $(cat err)"
grep -q 'unclear  app+0x[0-9a-f]* \[[0-9a-f]*\]' diff && ! grep -q ' changed .*app' diff && grep -q '^\[build-id\]: ' diff ||
  fail "addresses of two builds are compared: $(cat diff)"
fleetprof report old.fp old.fp >/dev/null 2>&1 && ! fleetprof report old.fp 2>/dev/null | grep -q '\[[0-9a-f]*\]$' || fail "a build is told where there is one"

# Two file names are one program, and so is a copy of it.
build app.old -DSLOWER=1
build app.new -DSLOWER=4
cp app.old copy
for program in app.old app.new copy; do profile $program.fp ./$program; done
rm app.old app.new copy
fleetprof report app.old.fp --diff app.new.fp >diff 2>err || fail "diff of two names"
for name in slower steady; do [ "$(rows $name)" = 1 ] || fail "$name has $(rows $name) rows: $(cat diff)"; done
grep -q '+.*changed  slower  (app.old -> app.new)' diff && grep -q '^app.old -> app.new: the program itself' diff || fail "two file names: $(cat diff)"
[ "$(fleetprof report app.old.fp --diff app.new.fp -f json | json "[f['verdict'] for f in d['functions'] if f['name'] == 'slower']")" = "['changed']" ] || fail "the same as json"
fleetprof report app.old.fp --diff copy.fp >diff || fail "diff of a copy"
[ "$(rows slower)" = 1 ] && [ "$(rows steady)" = 1 ] || fail "a copy: $(cat diff)" # by chance one in twenty is changed

# One build at two paths, one of them without debug information: a function is one row and has one
# name.
cat >twin.c <<'C'
static volatile unsigned long sink;
static __attribute__((noinline)) void part(long n, unsigned long by) { unsigned long x = sink; while (n-- > 0) x = x * by + 3037000493UL; sink = x; }
int main(void) { for (int i = 0; i < 800; i++) part(300000L + i, 2862933555777941757UL); return 0; }
C
mkdir one two
cc -O2 -g -Wl,--build-id -o one/twin twin.c && strip -g -o two/twin one/twin || fail "no build"
for at in one two; do profile $at.fp $at/twin; done
nm one/twin | grep -q ' part\.constprop' || without "a function that the compiler has cloned" "this one does not"
for files in "one.fp two.fp" "two.fp one.fp"; do
  fleetprof report $files >out 2>err || fail "a sum of two paths: $(cat err)"
  [ "$(grep -c '  part' out)" = 1 ] || fail "one function is two: $(cat out)"
done
fleetprof report one.fp --diff two.fp >diff 2>err || fail "a difference of two paths: $(cat err)"
[ "$(grep -c '  part' diff)" = 1 ] || fail "one function is two: $(cat diff)"

# By hand: of a run that was killed, as long as the program is there.
build app -DSLOWER=1
fleetprof name -v old.fp 2>err || fail "name: $(cat err)"
grep -q "old.fp: names of [1-9]" err || fail "name: $(cat err)"
rm app
has_names old.fp || fail "name did not write names"
fleetprof name -v old.fp 2>&1 | grep -q "names of 0 functions" || fail "names are written twice"
# Names are not written into other kinds of files, nor into the file of an active run.
cp app.c precious
fleetprof name precious 2>err && fail "name took a source file"
grep -q '^fleetprof: name: precious: is not a profile' err && cmp -s precious app.c || fail "name: $(cat err)"
fleetprof run --output long.fp -- sleep 30 & run_pid=$!
until_true 10 test -s long.fp || fail "no file of a run"
fleetprof name long.fp 2>err && fail "name wrote into a file that a run writes"
grep -q 'still writes' err || fail "name: $(cat err)"
kill "$(pgrep -P $run_pid sleep)"
wait $run_pid

# A daemon of its own that writes a file ends with names as well.
if [ "$(id -u)" = 0 ]; then
  build app -DSLOWER=1
  fleetprofd --system --state "$W/board" --output "$W/board.fp" --foreground >daemon.log 2>&1 & daemon=$!
  started+=("$daemon")
  if until_true 10 test -S "$W/board/fleetprofd.sock"; then
    # A file that only processes with separate mounts have; one of them lives when the names are
    # looked up.
    mkdir jail
    build jailed -DSLOWER=2 -DFOREVER
    unshare -m sh -c 'mount -t tmpfs none jail && mv jailed jail/ && exec jail/jailed' & jailed=$!
    started+=("$jailed")
    until_true 5 test ! -e jailed || without "a mount of its own" "unshare or mount is refused"
    ./app && ./app
    kill $daemon; wait $daemon
    kill $jailed; wait $jailed 2>/dev/null
    rm -r app jail
    [ -e jailed ] || fleetprof report board.fp 2>/dev/null | grep -q ' slower  (jailed)' || fail "a program of other mounts: $(fleetprof report board.fp 2>&1 | head -n 20)"
    fleetprof report board.fp 2>/dev/null | grep -q ' slower  (app)' || fail "--system: $(fleetprof report board.fp 2>&1 | head -n 20)"
  else
    without "the whole board" "$(tail -n 1 daemon.log)"
  fi
fi

names_are_due() { ! pgrep -f -- "--output $W/killed.fp" >/dev/null; }
until_true 40 names_are_due || fail "the daemon of a killed run does not end"
rm killed
has_names killed.fp && [ ! -s err ] || fail "a run that was killed alone has no names: $(cat err; fleetprof report killed.fp 2>&1 | head -n 5)"
