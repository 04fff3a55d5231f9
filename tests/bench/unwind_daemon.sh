#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The daemon's cost of walking stacks: its worker's CPU time while perf samples a program of two
# busy threads without frame pointers (tests/targets/chain) at 99 Hz. Stacks are walked by tables
# and, in turn, by the kernel along frame pointers. The difference is the cost of the stack copies
# and the walks.
#
#   tests/bench/unwind_daemon.sh [ROUNDS] [SECONDS]     (default 6 rounds of 10 s); FLEETPROF_PREFIX, FLEETPROF_TARGETS as for the end-to-end tests
set -eu
rounds=${1:-6} seconds=${2:-10}
: "${FLEETPROF_PREFIX:?the installed tree}" "${FLEETPROF_TARGETS:?the built test targets}"
PATH=$FLEETPROF_PREFIX/bin:$PATH
state=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-bench.XXXXXX")
trap 'kill "$(cat "$state/fleetprofd.pid")" && sleep 1; rm -rf "$state"' EXIT
fleetprofd --state "$state" --collector 127.0.0.1:9 --budget-cpu 0
worker=$(pgrep -P "$(cat "$state/fleetprofd.pid")")
run() { timeout -s TERM "$seconds" fleetprof run --state "$state" --flush-timeout 0s --sampler perf --hz 99 --unwind "$1" -- "$FLEETPROF_TARGETS/chain" 1000000 >/dev/null 2>&1 || true; }
spent() { awk '{ print $1 }' "/proc/$worker/schedstat"; }
produced() { fleetprof status --state "$state" --format json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["loss"]["produced"])'; }
run auto # the tables are made, and known from here on
for _ in $(seq "$rounds"); do
  for unwind in fp auto; do
    samples=$(produced) before=$(spent)
    run $unwind
    after=$(spent)
    echo "$unwind $((after - before)) $(($(produced) - samples))"
  done
done | /usr/bin/python3 -c "
import statistics, sys
rows = [line.split() for line in sys.stdin]
cost = {kind: [int(ns) / 1e6 for name, ns, _ in rows if name == kind] for kind in ('fp', 'auto')}
samples = statistics.mean(int(n) for _, _, n in rows)
for kind, ms in cost.items():
    print(f'{kind}: {statistics.median(ms):.1f} ms of CPU time in $seconds s ({min(ms):.1f} to {max(ms):.1f}), {samples:.0f} samples a run')
more = [a - b for a, b in zip(cost['auto'], cost['fp'])]
at = lambda ms: ms / samples * 99 * 2 / 10
print(f'by tables: {1000 * statistics.median(more) / samples:.1f} us more a sample, at 99 Hz on two CPUs {at(statistics.median(more)):.2f} % of a CPU ({at(min(more)):.2f} to {at(max(more)):.2f})')
"
