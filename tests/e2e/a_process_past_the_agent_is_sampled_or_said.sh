#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# By timer, a process made by its parent's raw clone, in which no agent registers, is sampled by
# perf. Where perf is refused the report gives the reason for missing samples. Its CPU time is in
# the report though its parent never waits for it.
. "$(dirname "$0")/lib.sh"
cd "$W" || fail "no folder"
export HOME=$W
cp "$targets/spin" spin || fail "no program"
cat >past.py <<'P'
import ctypes, os, platform, sys, time
clone = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
if clone is None:
    sys.exit(77)
child = ctypes.CDLL(None).syscall(clone, 17, 0, 0, 0, 0)
if child == 0:
    os.execve(sys.argv[1], sys.argv[1:], {})
while open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
    time.sleep(0.05)
os._exit(0)
P
profiled() { timeout 60 "$@" >/dev/null 2>err; }
raw=("/usr/bin/python3" past.py ./spin 3000)
profiled "${raw[@]}"
[ $? = 77 ] && { echo "not run: the number of clone is not known here"; exit 77; }
ways=(raw)
if command -v bwrap >/dev/null && bwrap --dev-bind / / --unshare-all true 2>/dev/null; then
  box=(bwrap --dev-bind / / --tmpfs /run --ro-bind "$W" "$W" --chdir "$W" --unshare-all env -u FLEETPROF_SOCKET -u LD_PRELOAD ./spin 3000)
  ways+=(box)
else
  without "a sandbox by bwrap" "it is not here, or may not make one"
fi
for way in "${ways[@]}"; do
  declare -n words=$way
  profiled fleetprof run --output some.fp --sampler timer -- "${words[@]}" || fail "$way ended with $?: $(cat err)"
  fleetprof report some.fp >said
  has=$(fleetprof report some.fp --format json | json "sum(f['self_share'] for f in d['functions'] if f['name'] == 'unit')")
  say "$way: unit $has"
  json "$has > .3" <<<'{}' | grep -qx yes || fail "$way: perf did not take over: $(cat said)"
  profiled "$targets/refuse_perf" fleetprof run --verbose --output none.fp --sampler timer -- "${words[@]}" || fail "$way ended with $?: $(cat err)"
  mv err ended
  fleetprof report none.fp >said
  grep -E "not(hing was)? sampled: a program that it started: .*(timer: .*perf: |perf: .*timer: )" said || fail "$way, perf refused: silent: $(cat said)"
  fleetprof report none.fp --format json | json "'unreached' in [m['mark'] for m in d['marks']] and 'fleetprof doctor' in d['unsampled_hint']" | grep -qx yes || fail "$way, perf refused: JSON is silent"
  grep -Eq '^fleetprof: .* % of its CPU time is \[unsampled\]: not sampled: a program that it started: ' ended || fail "$way, perf refused: run is silent: $(cat ended)"
  seconds=$(sed -n 's/.*samples\{0,1\}, \([0-9.]*\) s of CPU time.*/\1/p' said)
  json "${seconds:-0} > 1.2" <<<'{}' | grep -qx yes || fail "$way: its CPU time is missing: $(cat said)"
done
