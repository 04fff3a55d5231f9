#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cost of being sampled, and the samples' size: our samplers and collect modes, `perf record -g`
# and gperftools' libprofiler.so. Each is compared with no sampler on a CPU-bound loop, a loop that
# thrashes the caches, and redis-server under redis-benchmark.
#
#   tests/bench/agent.sh [ROUNDS] [HZ]        (default 12 rounds at 1000 Hz)
#   tests/bench/agent.sh 12 99 spin thrash    only these programs
#   VARIANTS='perf;perf record -g' ...         only these, and nothing
#
# A round runs every variant once, in random order. The cost of a sample is the program's own CPU
# time less that of `nothing` in the same round, divided by the samples, with a bootstrap interval
# over the rounds. A round of all three programs takes about 80 s on a quiet machine. Prints
# Markdown. FLEETPROF_PREFIX and FLEETPROF_TARGETS as for the end-to-end tests. Needs Debian's
# linux-perf, libgoogle-perftools4, redis-server and redis-tools (deploy/packages/torture.txt).
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${FLEETPROF_PREFIX:?the installed tree}" "${FLEETPROF_TARGETS:?the built test targets}"
W=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-bench.XXXXXX")
trap 'rm -rf "$W"' EXIT
/usr/bin/python3 "$here/agent_bench.py" "$W" "$@"
