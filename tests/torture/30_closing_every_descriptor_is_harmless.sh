#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 30: a program sees no descriptor or thread of ours, closes 0 to 1024 (or all, by close_range),
# becomes a daemon, and reuses the numbers. Its files are not affected, and samples keep arriving,
# also where each parent ends at once and the run is over long before the daemon is; redis-server as
# a daemon, too.
. "$(dirname "$0")/lib.sh"
ms=$(pick 300 20000)
board fds
mkdir "$W/files" "$W/more"
SAMPLES=$((ms / 10)) same "$torture/closes_all" "$W/files" "$ms"
SAMPLES=$((ms / 10)) same "$torture/closes_all" "$W/more" "$ms" range

# alone SAMPLER: the samples are the daemon's: no other process spends CPU time.
alone() {
  local before
  rm -rf "$W/alone" && mkdir "$W/alone"
  before=$(produced)
  sampled "$1" "$torture/closes_all" "$W/alone" $((2 * ms)) alone || fail "$1: alone: ended with $?"
  until_true 60 test -s "$W/alone/ended" || fail "$1: alone: the daemon has not ended"
  [ "$(cat "$W/alone/ended")" = 0 ] || fail "$1: alone: the daemon's files are not its own"
  at_least $((ms / 5)) "$before" || fail "$1: alone: $(($(produced) - before)) samples of $((2 * ms)) ms"
  until_true 10 nobody_is_left || fail "$1: alone: the target outlives the daemon: $(head -c 600 "$W/status")"
}
nobody_is_left() { [ "$(asked "sum(not t['ended'] for t in d['targets'])")" = 0 ]; }
for sampler in "${samplers[@]}"; do alone "$sampler"; done

# Compares a daemon's samples with its own figure. Without a waiting parent, which would get rusage,
# some time is missing: time within task switches, which events do not count, and the last moments
# before its end. The limit is 5 % and 40 ms (1.3 % of 2.7 s were missing by perf, on a busy
# machine), and never more than the figure.
daemon_of_redis() {
  local redis pid spent told
  redis=$(port)
  rm -rf "$W/redis" && mkdir "$W/redis"
  fleetprof run --state "$B" --collector "127.0.0.1:$A" --sampler "$1" --hz $HZ --service "redis-$1" -- \
    redis-server --port "$redis" --save '' --dir "$W/redis" --daemonize yes --pidfile "$W/redis/pid" >/dev/null || fail "$1: redis-server ended with $?"
  is_up() { redis-cli -p "$redis" ping >/dev/null 2>&1 && [ -s "$W/redis/pid" ]; }
  until_true 10 is_up || fail "$1: redis-server does not answer"
  pid=$(cat "$W/redis/pid")
  started+=("$pid")
  redis-benchmark -p "$redis" -q -n "$(pick 20000 2000000)" -c 20 -t set,lrange_100 >"$W/benchmark" 2>&1 || fail "$1: redis-benchmark: $(tail -n 1 "$W/benchmark")"
  spent=$(redis-cli -p "$redis" info cpu | awk -F'[:\r]' '/^used_cpu_(user|sys):/ { s += $2 } END { printf "%d", 1000 * s }')
  redis-cli -p "$redis" shutdown nosave >/dev/null 2>&1
  until_true 10 is_gone "$pid" || fail "$1: redis-server does not end"
  is_told() {
    told=$(profile "{service=\"redis-$1\"}" 2>/dev/null | json "round(d['total'] / 1e6)" 2>/dev/null)
    [ "${told:-0}" -ge $((spent * 95 / 100 - 40)) ] && [ "$told" -le $((spent * 101 / 100 + 40)) ]
  }
  until_true 20 is_told "$1" || fail "$1: redis-server spent $spent ms as a daemon, told are ${told:-none}"
  say "$1: redis-server spent $spent ms as a daemon, $told are told"
}
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
  HZ=199
  start_collector
  enroll redis
  fleetprofd --state "$B" --collector "127.0.0.1:$A" --window 1s || fail "the daemon does not start"
  for sampler in "${samplers[@]}"; do daemon_of_redis "$sampler"; done
else
  without "redis-server as a daemon" "it is not installed"
fi
