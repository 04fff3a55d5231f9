#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 30: a program sees no descriptor or thread of ours, closes 0 to 1024 (or all, by close_range), becomes
# a daemon, uses the numbers again: its files stay its own, and data keeps flowing; also where each parent
# ends at once and the run is over long before the daemon is.
. "$(dirname "$0")/lib.sh"
ms=$(pick 300 20000)
board fds
mkdir "$W/files" "$W/more"
SAMPLES=$((ms / 10)) same "$torture/closes_all" "$W/files" "$ms"
SAMPLES=$((ms / 10)) same "$torture/closes_all" "$W/more" "$ms" range

# alone SAMPLER: the samples are those of the daemon: nobody else spends CPU time.
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
