#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh NAME [BATCH]: saves the folder of a board whose fleetprofd (from PATH) was killed with an
# open window, as NAME.tar.gz beside this script (README.md). The raw batch in the file BATCH is put
# before the daemon's own, like a batch of an earlier run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=$1
batch=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
state=$work/state
spins() { fleetprof run --state "$state" --flush-timeout 0s --sampler perf --hz 199 --service golden -- timeout 4 sh -c "i=0; while [ \$i -lt $1 ]; do i=\$((i + 1)); done"; }
fleetprofd --state "$state" --collector 127.0.0.1:9 --window 2s
spins 300000
spins 300000
sleep 3
spins 100000000 &
sleep 1
keeper=$(cat "$state/fleetprofd.pid")
worker=$(pgrep -P "$keeper")
kill -9 "$keeper" "$worker"
kill $! 2>/dev/null || true
[ -z "$batch" ] || /usr/bin/python3 "$here/../../torture/spool_files.py" older "$state/spool" "$batch"
rm -rf "$state"/tables "$state"/*.sock "$state"/*.pid "$state"/*.lock "$state"/*.log
tar --owner=0 --group=0 --sort=name -C "$state" -cf - . | gzip -9n >"$here/$name.tar.gz"
tar -tvf "$here/$name.tar.gz"
