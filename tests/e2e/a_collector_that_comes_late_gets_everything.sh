#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The collector is down for the whole run and starts afterwards: no sample is lost, and run reports
# that the samples wait in the spool.
. "$(dirname "$0")/lib.sh"
start_collector
enroll board1
stop_collector
run --sampler perf --hz 199 --flush-timeout 2s --verbose -- "$targets/truth" 1 >"$W/truth" 2>"$W/said" \
  || fail "the program ended with $?"
grep -qi spool "$W/said" || fail "run does not say that the samples are spooled: $(cat "$W/said")"
status >"$W/status" || fail "status ended with $?"
grep -qi refused "$W/status" || fail "status does not say why the uplink waits: $(cat "$W/status")"
collector_up
until_true 70 books_are_closed board1 || fail "the books do not close: $(books board1)"
read -r produced stored dropped pending < <(books board1)
[ "$dropped" = 0 ] && [ "$produced" = "$stored" ] || fail "lost: $(api loss)"
say "produced $produced stored $stored"
