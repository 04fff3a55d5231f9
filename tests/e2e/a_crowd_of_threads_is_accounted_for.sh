#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The timer sampler has a limited number of slots, and a short thread ends within a period. The
# total still equals the program's own CPU time, within 3 %. Most of it has names while the threads
# fit the slots; beyond them, and in a program that cannot load the agent, it is [unsampled].
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
total_is_right() {
  local name=$1 said=$2 least=$3
  profile "{service=\"$name\"}" >"$W/$name.json" || fail "no answer for $name"
  /usr/bin/python3 - "$W/$name.json" "$said" "$name" "$least" "$(stolen_since)" <<'P' || fail "$name is off"
import json, sys
top, said = json.load(open(sys.argv[1])), float(sys.argv[2])
rest = sum(f["self"] for f in top["functions"] if f["name"] == "[unsampled]") / 1e9
total = top["total"] / 1e9
print(f"  {sys.argv[3]}: {total:.3f} s of {said:.3f} s, {rest:.3f} s of it [unsampled]")
least, stolen = map(float, sys.argv[4:])
sys.exit(not -.03 <= total / said - 1 <= .03 + stolen / said or (total - rest) / said < least)
P
}
crowd() {
  local name=$1 least=$2
  shift 2
  stolen_before=$(stolen)
  run --service "$name" --sampler timer --hz 199 -- "$targets/crowd" "$@" >"$W/$name" || fail "$name ended with $?"
  total_is_right "$name" "$(cat "$W/$name")" "$least"
}
crowd threads 0.6 threads 64 100
crowd forks 0.6 forks 48 100
crowd turns 0.6 turns 100 50
crowd c11 0.6 c11 16 100
# A vfork child must not change its thread's state: each once leaked one of 1024 slots.
crowd vforks 0.6 vforks 1100 2000
crowd multitude 0.2 threads 400 20
s=$(status --format json | json "d['loss']['threads_unsampled']")
[ "$s" -ge 100 ] || fail "threads without a slot are not counted: $s"
say "$s threads of the multitude found no slot"

# Perf covers the whole tree by itself: no time is reported twice.
stolen_before=$(stolen)
run --service by-perf --sampler perf --hz 199 -- "$targets/crowd" forks 48 100 >"$W/by-perf" || fail "by-perf ended with $?"
total_is_right by-perf "$(cat "$W/by-perf")" 0.85

# A run inside a run: the inner run's time counts for it, once.
for sampler in timer perf; do
  run --service outer --sampler timer --hz 199 -- \
    fleetprof run --state "$B" --service "inner-$sampler" --sampler $sampler --hz 199 -- \
    "$targets/crowd" threads 8 200 >"$W/inner" || fail "the inner run by $sampler ended with $?"
  total_is_right "inner-$sampler" "$(cat "$W/inner")" 0.85
done
outer=$(profile '{service="outer"}' | json "d['total'] / 1e9 < .5") || fail "no answer for outer"
[ "$outer" = yes ] || fail "the outer run has the inner one's time as well"

# A static program never loads the agent: perf takes over.
run --sampler timer -- "$targets/static" >/dev/null || fail "static ended with $?"
static=$(profile '{service="static"}' | json "d['functions'][0]['name'] == 'static_work' and d['total'] > 1e8") || fail "no answer for static"
[ "$static" = yes ] || fail "static: $(profile '{service="static"}' | head -c 300)"
