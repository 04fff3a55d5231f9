#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wire.sh [SAMPLER...]: bytes on a board's line for a busy redis-server at 99 Hz, TLS included, with
# each SAMPLER (perf timer). For comparison it prints the size of other formats for the same load:
# perf.data of `perf record -g` at the same rate, a gzipped pprof each ten seconds, and folded
# stacks of ten seconds each by zstd. The latter two hold our samples as the collector returns them,
# with names. Formats with addresses would be smaller, but need the program's files to be read.
#
# Ours is the kernel's byte count on the daemon's connection, both ways, from the end of sending the
# program's names until its last sample was stored, divided by the collector's samples of that time.
# It includes acks and pings; the handshake and the names are printed separately. TCP and IP headers
# are excluded. PREFIX: an installed tree (build/installed), SECONDS_EACH of load (120), HZ (99).
set -euo pipefail
cd "$(dirname "$0")/../.."
export FLEETPROF_PREFIX=${PREFIX:-$PWD/build/installed}
seconds=${SECONDS_EACH:-120} hz=${HZ:-99}
. tests/e2e/lib.sh
set -e

# on_the_line: bytes sent and received so far on the daemon's connection to the collector, and its local port.
on_the_line() {
  ss -tniHO state established "( dport = :$A )" | awk '{ match($0, /bytes_sent:[0-9]+/); s = substr($0, RSTART + 11, RLENGTH - 11)
    match($0, /bytes_received:[0-9]+/); r = substr($0, RSTART + 15, RLENGTH - 15); print s, r, $3 }'
}
redis_up() { # redis_up COMMAND...: starts the server by COMMAND, into PROGRAM
  redis=$(port)
  "$@" redis-server --port "$redis" --save '' --dir "$W" >"$W/redis.log" 2>&1 &
  PROGRAM=$!
  started+=($PROGRAM)
  until_true 10 redis-cli -p "$redis" ping >/dev/null 2>&1 || fail "redis-server does not start"
}
redis_down() {
  redis-cli -p "$redis" shutdown nosave >/dev/null 2>&1 || true
  wait $PROGRAM || true
}
load() { timeout "$1" redis-benchmark -p "$redis" -q -l -c 20 -P 16 -t set,get,lpush,lrange_100 >/dev/null 2>&1 || true; }
cpu_spent() { redis-cli -p "$redis" info cpu | awk -F'[:\r]' '/^used_cpu_(user|sys):/ { s += $2 } END { print s }'; }
row() { awk -v what="$1" -v bytes="$2" -v samples="$3" 'BEGIN { printf "| %s | %d | %d | %.2f |\n", what, bytes, samples, bytes / samples }'; }

# samples_of SERVICE FROM TO: the collector's number of samples of those seconds.
samples_of() { api profile --data-urlencode "match={service=\"$1\"}" -d "from=$2&to=$3" | json "d['samples']"; }
# others SERVICE FROM TO SAMPLES: the size of other formats of those seconds, in windows of ten
# seconds.
others() {
  local at pprof=0 folded=0
  for ((at = $2; at < $3; at += 10)); do
    window=(--data-urlencode "match={service=\"$1\"}" -d "from=$at&to=$((at + 10))")
    pprof=$((pprof + $(api profile "${window[@]}" -d format=pprof | wc -c)))
    folded=$((folded + $(api profile "${window[@]}" -d format=folded | zstd -q -3 | wc -c)))
  done
  row "$1: its samples as pprof, gzip, each 10 s" $pprof "$4"
  row "$1: its samples as folded stacks, zstd -3, each 10 s" $folded "$4"
}

start_collector
enroll board1
echo "| what | bytes | samples | bytes a sample |"
echo "|---|---|---|---|"
[ $# -gt 0 ] || set -- perf timer
for sampler in "$@"; do
  service=redis-$sampler
  redis_up run --service "$service" --hz "$hz" --sampler "$sampler" --
  load 15
  sleep 12 # the window that is open
  until_true 60 names_are_settled || fail "names do not settle"
  read -r sent_before received_before port_before < <(on_the_line)
  spent=$(cpu_spent)
  from=$(date +%s)
  load "$seconds"
  sleep 12
  to=$(date +%s)
  read -r sent received port_after < <(on_the_line)
  [ "$port_before" = "$port_after" ] || fail "the line broke meanwhile"
  samples=$(samples_of "$service" "$from" "$to")
  row "$service, $(awk -v a="$spent" -v b="$(cpu_spent)" -v s="$seconds" 'BEGIN { printf "%.0f", 100 * (b - a) / s }') % of a CPU: sent and received, TLS included" $((sent - sent_before + received - received_before)) "$samples"
  row "$service: sent alone" $((sent - sent_before)) "$samples"
  echo "| $service: before it: handshake, names, 15 s of load | $((sent_before + received_before)) | | |"
  others "$service" "$from" "$to" "$samples"
  redis_down
done
if perf record -qg -F "$hz" -e cpu-clock -o "$W/perf.try" true >/dev/null 2>&1; then
  redis_up env
  perf record -qg -F "$hz" -e cpu-clock -p $PROGRAM -o "$W/perf.data" >/dev/null 2>&1 &
  recorder=$!
  load "$seconds"
  kill -INT $recorder
  wait $recorder || true
  redis_down
  samples=$(perf report --stats -i "$W/perf.data" 2>/dev/null | awk "/SAMPLE events/ { print \$3; exit }")
  row "perf record -g -F $hz: perf.data" "$(stat -c %s "$W/perf.data")" "$samples"
  row "the same by zstd -3" "$(zstd -q -3 -c "$W/perf.data" | wc -c)" "$samples"
else
  without "perf.data" "perf record -e cpu-clock does not work here"
fi
stop_collector
