#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program whose rounds last as long as the requested period, half of it or twice as long, spends
# 30 % of its time in one function. By timer, in each collect mode, and by itimer its share is
# within 10 points: four standard deviations for that number of samples. Rounds that are 5 % shorter
# or longer may be in step with a period that is drawn for one of four seconds.
AS_ORDINARY=1 . "$(dirname "$0")/both_users.sh"
. "$(dirname "$0")/lib.sh"
# shown HZ ROUND_US SAMPLER MODE [POINTS]
shown() {
  local truth share
  truth=$(fleetprof run --sampler "$3" --collect "$4" --hz "$1" --output "$W/x.fp" -- "$targets/phases" "$2" 4) || fail "$*: it ended with $?"
  share=$(fleetprof report "$W/x.fp" --format json | json "round(100 * {f['name']: f['self'] for f in d['functions']}.get('first_phase', 0) / max(1, sum(f['self'] for f in d['functions'] if f['name'].endswith('_phase'))), 1)")
  say "$*: first_phase has $share %, truly $(awk '{ print 100 * $1 }' <<<"$truth") %"
  awk -v s="$share" -v t="${truth%% *}" -v most="${5:-10}" 'BEGIN { d = s - 100 * t; exit !(d <= most && d >= -most) }' || fail "$*: first_phase has $share %"
  rm -f "$W/x.fp"
}
shown 99 10101 timer stacks
shown 99 20202 timer stacks
shown 99 5051 timer pc-lr
shown 99 9600 timer stacks 18
shown 99 10600 timer pc-lr 18
shown 99 10101 timer histogram
shown 99 10101 timer recorder
shown 99 10101 itimer stacks
