#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the kernel may be sampled (root) its functions stand below the program's, by name, in every
# view, for every program by perf and its children; the total is still the program's CPU time.
# Elsewhere [kernel] is one row, and the answer explains how to show its functions.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { say "only root may sample the kernel"; exit 77; }
fleetprof doctor | grep -q "^PASS  kernel part .*kernel's functions" || { say "the kernel refuses: $(fleetprof doctor | grep kernel)"; exit 77; }

# reader SECONDS: spends them in reading, mostly in the kernel, and prints its CPU time.
cat >"$W/reader.py" <<'PY'
import os, sys, time
zero = os.open("/dev/zero", os.O_RDONLY)
while time.process_time() < float(sys.argv[1]):
    for i in range(1000): os.read(zero, 16384)
print(time.process_time())
PY
reader="/usr/bin/python3 $W/reader.py"
# of_kernel FILE: the share of named kernel functions, that of [kernel], and the total over the
# program's CPU time.
of_kernel() {
  fleetprof report "$1" --format json --limit 100000 | json "'%.3f %.3f %.4f' % (*(sum(f['self'] for f in d['functions'] if f['module'] == '[kernel]' and (f['name'] == '[kernel]') == w) / d['total'] for w in (False, True)), d['total'] / 1e9 / $(tail -n 1 "$2"))"
}
# is_between LEAST VALUE MOST
is_between() { awk -v least="$1" -v value="$2" -v most="$3" 'BEGIN { exit !(value >= least && value <= most) }'; }
# shows HOW FILE: the program calls the kernel's function, in this view.
shows() {
  fleetprof report "$2" --format "$1" --limit 100000 2>/dev/null | { [ "$1" = pprof ] && zcat || cat; } >"$W/view"
  grep -aq vfs_read "$W/view" || fail "no function of the kernel in $1"
}

fleetprof run --output "$W/root.fp" --sampler perf --hz 499 -- sh -c "$reader 2" >"$W/root.out" || fail "the reader ended with $?"
read -r named plain total < <(of_kernel "$W/root.fp" "$W/root.out")
say "root: $named of the time in functions of the kernel, $plain in [kernel], total $total of what was spent"
is_between .3 "$named" 1 || fail "$named in functions of the kernel"
is_between 0 "$plain" .08 || fail "$plain in [kernel]"
is_between .97 "$total" 1.08 || fail "the total is off: $total" # with the shell's, and python's start and end
for view in top json folded pprof speedscope callgrind perf-script; do shows $view "$W/root.fp"; done
fleetprof report "$W/root.fp" --format folded | grep -Eq '^[^[][^;]*;.*read.*;vfs_read;' || fail "vfs_read is not below the program: $(fleetprof report "$W/root.fp" --format folded | grep -m1 vfs_read)"
fleetprof report "$W/root.fp" | grep -q '^\[kernel\]: ' && fail "a hint where nothing is closed"
# However callers are found.
for how in "--unwind fp" "--unwind none" "--collect pc-lr"; do
  fleetprof run --output "$W/how.fp" --sampler perf --hz 499 $how -- $reader 0.5 >"$W/how.out" || fail "the reader ended with $?"
  read -r named plain total < <(of_kernel "$W/how.fp" "$W/how.out")
  say "$how: $named in functions of the kernel, $plain in [kernel], total $total"
  is_between .3 "$named" 1 || fail "$how: $named in functions of the kernel"
done

fleetprof report "$W/how.fp" | grep -q '^stacks: ' && fail "a word on stacks where pairs were asked for"

# Without available names the kernel is one row, and the report gives the reason.
sed 's/^[0-9a-f]*/0000000000000000/' /proc/kallsyms >"$W/kallsyms"
if unshare -m mount --bind "$W/kallsyms" /proc/kallsyms 2>/dev/null; then
  unshare -m sh -c "mount --bind '$W/kallsyms' /proc/kallsyms; exec fleetprof run --output '$W/hidden.fp' --sampler perf --hz 499 -- $reader 0.5" >"$W/hidden.out" || fail "the reader ended with $?"
  read -r named plain total < <(of_kernel "$W/hidden.fp" "$W/hidden.out")
  is_between .3 "$plain" 1 || fail "hidden: $plain in [kernel], $named by name"
  fleetprof report "$W/hidden.fp" | grep -q '^\[kernel\]: .*kptr_restrict' || fail "hidden: no word on names: $(fleetprof report "$W/hidden.fp" | tail -n 1)"
else
  without "hidden addresses" "no mount namespace"
fi

# By a daemon: of a run, and of a program that carries the agent and that the daemon samples by perf itself.
start_collector
enroll board1
run --service by-run --sampler perf --hz 499 -- $reader 1 >/dev/null || fail "the reader ended with $?"
env FLEETPROF_SOCKET="$B/fleetprofd.sock" LD_PRELOAD="$agent" FLEETPROF_SERVICE=by-itself FLEETPROF_HZ=499 $reader 2 >/dev/null || fail "the reader ended with $?"
run --service last -- true
is_named() { profile "{service=\"$1\"}" -d limit=100000 | json "sum(f['self'] for f in d['functions'] if f['module'] == '[kernel]' and f['name'] not in ('[kernel]',) and '+0x' not in f['name']) > .3 * d['total']" | grep -q yes; }
for service in by-run by-itself; do
  until_true 30 is_named $service || fail "$service: the kernel's functions have no names: $(profile "{service=\"$service\"}" | head -c 600)"
  for view in folded tree columns perf-script; do
    profile "{service=\"$service\"}" -d format=$view -d limit=100000 | grep -q vfs_read || fail "$service: not in the answer's $view"
  done
done
# Only offsets from the start of the kernel leave the board: its random address stays secret.
base=$(awk '$3 == "_text" { print substr($1, 1, 11); exit }' /proc/kallsyms)
profile '{service="by-run"}' -d format=pprof -d limit=100000 | zcat >"$W/pprof"
grep -aqi "$base" "$W/pprof" "$W/view" && fail "the kernel's own address is in an answer"

# An ordinary user: one row, and the remedy, in the report, the answer, status and doctor.
user() { as_ordinary env HOME="$W/user" FLEETPROF_STATE="$W/user/state" "$@"; }
mkdir -m 755 "$W/user" && chown "$ordinary:$ordinary" "$W/user" && chmod 755 "$W"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ]; then
  user fleetprof run --output "$W/user/user.fp" --sampler perf --hz 499 -- $reader 1 >"$W/user.out" || fail "the user's reader ended with $?"
  read -r named plain total < <(of_kernel "$W/user/user.fp" "$W/user.out")
  say "a user: $named in functions of the kernel, $plain in [kernel], total $total of what was spent"
  is_between 0 "$named" 0 && is_between .3 "$plain" 1 || fail "a user: $named by name, $plain in [kernel]"
  user fleetprof report "$W/user/user.fp" | grep -q '^\[kernel\]: .*CAP_PERFMON.*perf_event_paranoid=1' || fail "no word on what opens it: $(user fleetprof report "$W/user/user.fp" | tail -n 1)"
  user fleetprof report "$W/user/user.fp" --format json | json "'CAP_PERFMON' in d['kernel_hint']" | grep -q yes || fail "no hint in JSON"
  user fleetprof doctor | grep -A 1 '^WARN  kernel part' | grep -q 'mend: .*perf_event_paranoid=1' || fail "doctor: $(user fleetprof doctor | grep -A 1 'kernel part')"
  user fleetprof run --sampler perf --service waits -- sleep 5 & waits=$!
  started+=($waits)
  until_true 4 eval 'user fleetprof status 2>/dev/null | grep -q "kernel.s functions are one row.*perf_event_paranoid=1"' || fail "status: $(user fleetprof status)"
  user fleetprof status --format json | json "[t['samples_kernel'] for t in d['targets']]" | grep -q '\[False\]' || fail "status --format json"
  wait $waits
  kill "$(cat "$W/user/state/fleetprofd.pid")"
  # With the single capability, without root.
  if setpriv --reuid="$ordinary" --regid="$ordinary" --clear-groups --inh-caps=+perfmon,+syslog --ambient-caps=+perfmon,+syslog true 2>/dev/null; then
    setpriv --reuid="$ordinary" --regid="$ordinary" --clear-groups --inh-caps=+perfmon,+syslog --ambient-caps=+perfmon,+syslog \
      fleetprof run --output "$W/user/caps.fp" --sampler perf --hz 499 -- $reader 1 >"$W/caps.out" || fail "the reader with CAP_PERFMON ended with $?"
    read -r named plain total < <(of_kernel "$W/user/caps.fp" "$W/caps.out")
    say "CAP_PERFMON: $named in functions of the kernel, $plain in [kernel], total $total"
    is_between .3 "$named" 1 || fail "CAP_PERFMON: $named in functions of the kernel"
  fi
fi
