#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes in a pid namespace of their own write numbers into their ring that mean others here, 1 the machine's
# init among them: their samples are their own program's all the same, and none of them is lost.
. "$(dirname "$0")/lib.sh"
cd "$W" || fail "no folder"
export HOME=$W
sleep 600 &
other=$!
started+=($other)
for sampler in timer perf; do
  stolen_before=$(stolen)
  fleetprof run --output $sampler.fp --sampler $sampler --hz 199 -- "$targets/apart" 1.5 $other >out
  [ $? != 77 ] || { echo "not run: no pid namespace can be made here"; exit 77; }
  spent=$(awk '{ sum += $1 } END { print sum }' out)
  fleetprof report $sampler.fp --format json >$sampler.json || fail "$sampler: no report"
  say "$sampler: spent $spent s, shown $(json "[(f['name'], f['module'], round(f['self'] / 1e9, 2)) for f in d['functions']][:4]" <$sampler.json)"
  is_all_of "$(json "d['total'] / 1e9" <$sampler.json)" "$spent" .03 || fail "$sampler: the total is $(json "d['total']" <$sampler.json)"
  json "sum(f['self'] for f in d['functions'] if f['name'] == 'burn_apart' and f['module'] == 'apart') > .9 * d['total']" \
    <$sampler.json | grep -q yes || fail "$sampler: burn_apart has not its time"
done
