#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redis-server under redis-benchmark, with each sampler: the answer's total equals the server's own
# CPU time (INFO cpu), and the benchmark sees no error.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
for sampler in perf timer; do
  redis=$(port)
  run --service "redis-$sampler" --hz 199 --sampler $sampler -- redis-server --port "$redis" --save '' --dir "$W" >"$W/redis.log" &
  program=$!
  until_true 10 redis-cli -p "$redis" ping >/dev/null 2>&1 || fail "redis-server does not start"
  redis-benchmark -p "$redis" -q -n 50000 -c 20 -t set,get,lpush,lrange_100 >"$W/benchmark" 2>&1 || fail "redis-benchmark: $(tail -n 1 "$W/benchmark")"
  grep -qi error "$W/benchmark" && fail "redis-benchmark: $(grep -i error "$W/benchmark")"
  spent=$(redis-cli -p "$redis" info cpu | awk -F'[:\r]' '/^used_cpu_(user|sys):/ { s += $2 } END { print s }')
  redis-cli -p "$redis" shutdown nosave >/dev/null 2>&1
  wait $program || fail "redis-server ended with $?"
  profile "{service=\"redis-$sampler\"}" >"$W/$sampler.json"
  ratio=$(json "d['total'] / 1e9 / $spent" <"$W/$sampler.json")
  say "$sampler: total is $ratio of the $spent s redis-server counted, $(json "d['samples']" <"$W/$sampler.json") samples, $(json "'%.2f' % (sum(f['self'] for f in d['functions'] if f['name'] == '[kernel]') / d['total'])" <"$W/$sampler.json") of it [kernel]"
  is_all_of "$(json "d['total'] / 1e9" <"$W/$sampler.json")" "$spent" $([ $sampler = perf ] && echo .02 || echo .05) || fail "$sampler: total is off"
done
