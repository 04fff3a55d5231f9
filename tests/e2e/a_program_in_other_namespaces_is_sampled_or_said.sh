#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# By timer, a program started in a separate pid namespace, or whose exec leads to a place without
# the daemon's socket, is sampled by perf at once. Where perf is refused, the report shows the
# unsampled part and the reason.
. "$(dirname "$0")/lib.sh"
cd "$W" || fail "no folder"
chmod 755 "$W"
export HOME=$W
cp "$targets/spin" spin || fail "no program"
unshare -p -f true 2>/dev/null || { echo "not run: no pid namespace can be made here"; exit 77; }
apart() { fleetprof run --output apart.fp --sampler timer --hz 199 -- "$@" >/dev/null 2>&1; fleetprof report apart.fp; }
share() { fleetprof report apart.fp --format json | json "sum(f['self_share'] for f in d['functions'] if f['name'] == '[unsampled]')"; }
for way in "unshare -p -f ./spin 2000" "unshare -p -f --mount-proc ./spin 2000" "unshare -U -r -p -f ./spin 2000" "setpriv --reuid=65534 --regid=65534 --clear-groups ./spin 3000"; do
  apart $way >said || fail "$way: $(cat said)"
  say "$way: [unsampled] $(share)"
  json "$(share) < .6" <<<'{}' | grep -qx yes || fail "$way: perf did not take over: $(cat said)"
  "$targets/refuse_perf" fleetprof run --output apart.fp --sampler timer -- $way >/dev/null 2>&1
  fleetprof report apart.fp >said
  grep -E "not(hing was)? sampled: .*(another pid namespace|by exec)" said | grep -q "perf" || fail "$way, perf refused: silent: $(cat said)"
done
