#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's first command, with --once: a function table with shares, a URL, and no process left.
# On ports of its own: the usual ones another quickstart may take between its look and its listening.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
./deploy/quickstart.sh --once --data "$W/data" --http "127.0.0.1:$(port)" --agents "127.0.0.1:$(port)" >"$W/out" 2>&1 \
  || fail "it ended with $?: $(tail -n 5 "$W/out")"
grep -q 'http://127\.0\.0\.1:[0-9]' "$W/out" || fail "no URL: $(cat "$W/out")"
[ "$(grep -cE '[0-9] *%' "$W/out")" -ge 3 ] || fail "no table: $(cat "$W/out")"
grep -qx "the data: $W/data, which stays" "$W/out" || fail "where the data is is not told: $(cat "$W/out")"
[ "$(pgrep -fc "$W/data" || true)" = 0 ] || fail "it left a process: $(pgrep -fa "$W/data")"
tail -n 15 "$W/out"
