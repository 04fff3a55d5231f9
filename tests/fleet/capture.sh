#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# capture.sh [DIR]: records the windows in captured/ (or DIR) anew from real programs on this
# machine: redis-server under redis-benchmark, python3 that reads and writes JSON, xz with two
# threads. They are the spool of a daemon without a collector. FLEETPROF_PREFIX is the installed
# tree. WINDOW (10s), HZ (99) and WINDOWS (5) may be set. A quiet machine gives windows of 500
# records with these; a busy machine needs larger WINDOW and HZ.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here/captured} hz=${HZ:-99} window=${WINDOW:-10s} windows=${WINDOWS:-5}
each=$((${window%s} * windows + 2))
PATH=${FLEETPROF_PREFIX:?the installed tree}/bin:$PATH
W=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill $daemon 2>/dev/null || true; rm -rf "$W"' EXIT
mkdir -p "$to"

daemon_up() { # daemon_up NAME
  fleetprofd --foreground --state "$W/$1" --window "$window" --budget-cpu 0 >"$W/$1.log" 2>&1 &
  daemon=$!
  for ((i = 0; i < 100; i++)); do [ -S "$W/$1/fleetprofd.sock" ] && return || sleep 0.1; done
}
daemon_down() { # daemon_down NAME: what it has spooled is the recording
  kill $daemon
  wait $daemon || true
  cat "$W/$1"/spool/* >"$to/$1.spool"
}
run() { fleetprof run --state "$W/$1" --service "$1" --sampler perf --hz "$hz" --flush-timeout 1s -- "${@:2}"; }

daemon_up redis
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
run redis redis-server --port "$port" --save '' --dir "$W" >"$W/redis.log" &
program=$!
for ((i = 0; i < 100; i++)); do redis-cli -p "$port" ping >/dev/null 2>&1 && break || sleep 0.1; done
end=$((SECONDS + each))
while [ $SECONDS -lt $end ]; do
  redis-benchmark -p "$port" -q -n 20000 -c 20 -t set,get,lpush,lrange_100,zadd,hset >/dev/null
done
redis-cli -p "$port" shutdown nosave >/dev/null 2>&1 || true
wait $program || true
daemon_down redis

daemon_up python3
run python3 timeout $each /usr/bin/python3 -c '
import json, random, re
rows = [{"id": i, "name": "board-%d" % i, "values": [random.random() for _ in range(20)]} for i in range(500)]
while True:
    text = json.dumps(rows, sort_keys=True)
    back = sorted(json.loads(text), key=lambda row: row["values"][3])
    re.findall(r"board-(\d+)5", text)' || true
daemon_down python3

head -c 60000000 /dev/urandom | base64 >"$W/input"
daemon_up xz
run xz timeout $each sh -c "while :; do xz -T2 -3 -k -c '$W/input' >/dev/null; done" || true
daemon_down xz
ls -l "$to"
