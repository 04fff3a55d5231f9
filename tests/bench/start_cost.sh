#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The start-up cost of a program with the agent: /bin/true without it, with LD_PRELOAD alone (perf,
# opened by the daemon while the program waits) and with the timer by name, in turn.
#
#   start_cost.sh [ROUNDS]     from exec to end in ms: p50 p90 p99 of each, and of the pairs' differences
set -u
: "${FLEETPROF_PREFIX:?the installed tree to measure}"
W=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-start.XXXXXX")
"$FLEETPROF_PREFIX/bin/fleetprofd" --state "$W" || exit 1
trap 'kill "$(cat "$W/fleetprofd.pid")"; while [ -e "$W/fleetprofd.sock" ]; do sleep 0.1; done; rm -rf "$W"' EXIT
/usr/bin/python3 - "$W/fleetprofd.sock" "$FLEETPROF_PREFIX/lib/fleetprof/libfleetprof.so" "${1:-100}" <<'P'
import os, sys, time
socket, agent, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
carried = {"LD_PRELOAD": agent, "FLEETPROF_SOCKET": socket}
ways = {"nothing": {}, "perf": carried, "timer": {**carried, "FLEETPROF_SAMPLER": "timer"}}
took = {way: [] for way in ways}
for _ in range(rounds):
    for way, environment in ways.items():
        start = time.perf_counter()
        os.waitpid(os.posix_spawn("/bin/true", ["true"], environment), 0)
        took[way].append((time.perf_counter() - start) * 1e3)
def told(name, values):
    values = sorted(values)
    print(name, *("%.2f" % values[min(len(values) - 1, int(len(values) * p))] for p in (.5, .9, .99)))
for way in ways: told(way, took[way])
for way in ("perf", "timer"): told(way + " - nothing", [a - b for a, b in zip(took[way], took["nothing"])])
P
