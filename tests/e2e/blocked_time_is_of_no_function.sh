#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# By timer, a blocked signal is delivered when the thread unblocks it: in ppoll, or at the end of
# sigprocmask. The time before was spent elsewhere, so it is [unsampled], and no function gets it,
# in each collect mode, and at rates below and above the kernel's tick.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
is() { /usr/bin/python3 -c "import sys; sys.exit(not ($1))"; }
# look WAY COLLECT HZ: sets the shares of three kinds of rows
look() {
  F=$W/$1-$2-$3.fp
  fleetprof run --output "$F" --sampler timer --collect "$2" --hz "$3" -- "$targets/masks" "$1" 2 || fail "$1: ended with $?"
  fleetprof report "$F" --format json --limit 10000 >"$W/report.json" || fail "$1: no report"
  part() { json "'%.4f' % (sum(f['$2'] for f in d['functions'] if f['name'] == '$1') / d['total'])" <"$W/report.json"; }
  unsampled=$(part '[unsampled]' self) exposed=$(part exposed total)
  calls=$(json "'%.4f' % sum(f['self_share'] for f in d['functions'] if 'sigmask' in f['name'] or 'sigprocmask' in f['name'] or 'poll' in f['name'])" <"$W/report.json")
  say "$1, $2 at $3 Hz: unsampled $unsampled, exposed $exposed, calls that let signals through $calls"
}
[ "$(uname -m)" != mips ] || without "blocked sections" "a call leaves no trace in the registers here"
for collect in stacks pc-lr histogram; do
  look loop $collect 99
  is "$unsampled > .5 and $calls < .05" || fail "ppoll or another function has the time of the loop: $(fleetprof report "$F")"
  for hz in 99 997; do
    look section $collect $hz
    is ".4 < $unsampled < .6 and .4 < $exposed < .6 and $calls < .05" || fail "the blocked half is elsewhere: $(fleetprof report "$F")"
  done
done
# An answer has the possible remedies.
fleetprof report "$W/loop-stacks-99.fp" >"$W/words"
grep -q "blocks SIGURG\|with the signal blocked" "$W/words" || fail "the signal is not named: $(cat "$W/words")"
