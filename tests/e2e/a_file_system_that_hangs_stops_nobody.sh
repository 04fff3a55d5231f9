#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program's file is on a file system whose server stops responding. The daemon tries to identify
# the file and never gets an answer. The program beside it keeps every sample, status answers, and
# the daemon ends on request although a child still waits for that file. (A server that stops while
# the file is half read needs a kernel without read-ahead: tests/unit/uplink/debug_stall_test.c.)
. "$(dirname "$0")/lib.sh"
if [ "$(id -u)" != 0 ] || [ ! -w /dev/fuse ]; then
  echo "needs root and /dev/fuse"
  exit 77
fi
start_collector
enroll far
mkdir "$W/far"
"$targets/stalling_fs" "$targets/truth" "$W/far" & server=$!
started+=("$server")
until_true 5 test -x "$W/far/program" || { without FUSE "no file system of ours can be mounted here"; exit 77; }
# While it answers, the collector gets the program's file from there like any other.
enroll healthy
run --service healthy --sampler timer -- "$W/far/program" 2 >/dev/null || fail "the program on that file system ended with $?"
has_names() { [ "$(profile '{service="healthy"}' | json "sum(f['self'] for f in d['functions'] if f['name'] in ('alpha_sixty', 'beta_thirty', 'gamma_ten')) > 0")" = yes ]; }
until_true 10 has_names || fail "no names of a program on that file system: $(profile '{service="healthy"}' | json "[f['name'] for f in d['functions']]")"

B=$W/board-far
fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "fleetprofd ended with $?"
keeper=$(cat "$B/fleetprofd.pid")

FLEETPROF_DORMANT=1 FLEETPROF_SERVICE=far FLEETPROF_SOCKET="$B/fleetprofd.sock" LD_PRELOAD="$agent" \
  "$W/far/program" 300 >"$W/far.out" 2>&1 & far=$!
started+=("$far")
known() { status --format json | json "len(d['targets'])"; }
is_known() { [ "$(known)" -ge 1 ]; }
until_true 10 is_known || fail "the program on that file system is not known"
sleep 1   # it has read all of itself that it needs
kill -USR1 "$server"
fleetprof ctl resume --state "$B" --service far >/dev/null || fail "ctl ended with $?"
run --service near --sampler timer --hz 199 -- "$targets/truth" 5 >"$W/truth" || fail "the near program ended with $?"
samples() { status --format json | json "sum(t['samples'] for t in d['targets'] if t['service'] == 'far')"; }
[ "$(status --format json | json "d['worker_starts']")" = 1 ] || fail "the worker was started again"
[ "$(samples)" -gt 10 ] || fail "the program on that file system has $(samples) samples"
until_true 20 books_are_closed far || true
near=$(profile '{service="near"}' | json "d['total'] / 1e9")
spent=$(awk '{ print $4 + $5 }' "$W/truth")
/usr/bin/python3 -c "import sys; sys.exit(abs($near / $spent - 1) > 0.02)" || fail "near: $near s seen of $spent s"
names=$(profile '{service="far"}' | json "' '.join(f['name'] for f in d['functions'])")
case " $names " in
*" $W/far/program "*) ;;
*) fail "the far program has no name: $names" ;;
esac
say "near: $near s seen of $spent s; far: $(samples) samples"

waiting=$(pgrep -P "$(pgrep -P "$keeper")" | wc -l)
kill "$keeper"
until_true 10 is_gone "$keeper" || fail "the daemon does not end"
fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "no daemon can be started again: $?"
say "$waiting child waited; the daemon ended and was started again"
kill -9 "$far"
wait "$far" 2>/dev/null || :
