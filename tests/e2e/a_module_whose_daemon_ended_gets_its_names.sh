#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program ran, and its daemon ended before the program's file was sent. No further batch arrives,
# but the next daemon gets a request for the file when it connects. A file that is missing then is
# requested again later.
. "$(dirname "$0")/lib.sh"
cat >"$W/app.c" <<'C'
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) unsigned WORK(unsigned x) {
  for (unsigned i = 0; i < 100000; i++) x = x * 1664525u + 1013904223u + (x >> 7);
  return x;
}
int main(int argc, char **argv) {
  unsigned x = (unsigned)argc;
  for (clock_t end = atol(argv[1]) * CLOCKS_PER_SEC; clock() < end;) x = WORK(x);
  return x == 7;
}
C
for app in here later replaced; do
  cc -O2 -g -Wl,--build-id=sha1 -DWORK=${app}_work -o "$W/$app" "$W/app.c" || fail "the compiler"
done
start_collector
enroll board1
daemon() { fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s "$@" || fail "fleetprofd ended with $?"; }
debug_of() { api debug | json "[m['$2'] for m in d['modules'] if m['path'] == '$W/$1']"; }
heaviest() { profile "{exe=\"$1\"}" | json "d['functions'][0]['name'] if d['functions'] else ''"; }
is_named() { [ "$(heaviest "$W/$1")" = "$1_work" ]; }
has_samples() { [ -n "$(heaviest "$W/$1")" ]; }
kill_daemon() { kill -9 $(worker) "$(cat "$B/fleetprofd.pid")"; }

# A daemon without a budget for files behaves like one that ended before it sent any.
daemon --budget-debug 0
for app in here later replaced; do
  run --sampler timer -- "$W/$app" 1 || fail "$app ended with $?"
  until_true 20 has_samples $app || fail "no samples of $app: $(api profile)"
done
kill_daemon
for app in here later replaced; do
  [ "$(debug_of $app wanted)" = "[True]" ] || fail "$app is not wanted: $(api debug)"
done
say "before: $(heaviest "$W/here")"
mv "$W/later" "$W/elsewhere" && mv "$W/replaced" "$W/first_build" && cp "$W/here" "$W/replaced" || fail "mv"
sleep 16 # the pause after a board's first word that it has no file
daemon
until_true 20 is_named here || fail "after the next daemon's start: $(heaviest "$W/here"); $(debug_of here reason)"
is_absent() { debug_of later reason | grep -q "no such file\|not found\|no file"; }
until_true 20 is_absent || fail "a file that is not there: $(debug_of later reason)"
mv "$W/elsewhere" "$W/later"
until_true 150 is_named later || fail "a file that came later: $(heaviest "$W/later"); $(debug_of later reason)"
is_named replaced && fail "a file of another build gave names"
[ "$(debug_of replaced wanted)" = "[True]" ] || fail "a file of another build counts as the program's: $(api debug)"
say "here, later: $(heaviest "$W/here"), $(heaviest "$W/later")"
