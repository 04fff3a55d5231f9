#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's first command, with --once: a function table with shares, a URL, and no process left.
set -u
cd "$(dirname "$0")/../.."
W=$(mktemp -d "${TMPDIR:-/tmp}/fleetprof-quick.XXXXXX")
trap 'rm -rf "$W"' EXIT
./deploy/quickstart.sh --once --data "$W/data" >"$W/out" 2>&1 || { tail -n 5 "$W/out"; exit 1; }
grep -q 'http://127\.0\.0\.1:[0-9]' "$W/out" || { echo "no URL"; exit 1; }
[ "$(grep -cE '[0-9] *%' "$W/out")" -ge 3 ] || { echo "no table"; cat "$W/out"; exit 1; }
[ "$(pgrep -fc "$W/data" || true)" = 0 ] || { echo "it left a process: $(pgrep -fa "$W/data")"; exit 1; }
tail -n 15 "$W/out"
