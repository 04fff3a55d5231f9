#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The daemon's cost of a burst of short programs: batches, bytes spooled, CPU time of supervisor and
# worker, and the worker's page faults. COUNT commands start one after the other, each a separate
# target. Usage: burst.sh [COUNT] [SAMPLER] (FLEETPROF_PREFIX as for tests/e2e)
. "$(dirname "$0")/../e2e/lib.sh"
count=${1:-500} sampler=${2:-auto}
start_collector
enroll burst
fleetprofd --state "$B" --budget-cpu 0 --collector "127.0.0.1:$A" || fail "the daemon does not start"
keeper=$(cat "$B/fleetprofd.pid")
worker=$(worker)
figures() { # batches bytes keeper_ms worker_ms faults
  status --format json | json "'%d %d' % (d['uplink']['acked_batches'], d['spool']['bytes_written'])" | tr '\n' ' '
  awk '{ printf "%.0f ", $1 / 1e6 }' "/proc/$keeper/schedstat" "/proc/$worker/schedstat"
  awk '{ print $10 }' "/proc/$worker/stat"
}
is_quiet() { [ "$(status --format json | json "len(d['targets']) + d['spool']['entries'] + d['loss']['open']")" = 0 ]; }
sleep 1
read -r -a before < <(figures)
FLEETPROF_SAMPLER=$sampler FLEETPROF_SOCKET="$B/fleetprofd.sock" /usr/bin/python3 - "$count" "$agent" <<'P' || fail "no commands"
import os, sys
environment = dict(os.environ, LD_PRELOAD=sys.argv[2])
silent = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
for _ in range(int(sys.argv[1])):
    os.waitpid(os.posix_spawn("/usr/bin/cksum", ["cksum", "/bin/bash"], environment, file_actions=silent), 0)
P
sleep 2.5 # the last of them are swept and sent
until_true 20 is_quiet || fail "the daemon does not come to rest"
read -r -a after < <(figures)
names=(batches bytes keeper_ms worker_ms faults)
echo -n "$sampler, $count starts:"
for i in "${!names[@]}"; do echo -n " ${names[i]} $((after[i] - before[i]))"; done
echo
