#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each call by which a worker reaches its disk and its collector fails occasionally, one kind after
# the other: programs run on, the daemon lives, and finally all produced samples are stored or
# counted as lost. (Every call of the spool one by one, with five errors:
# tests/unit/spool/spool_fault_test.c.)
. "$(dirname "$0")/lib.sh"
strace -o /dev/null true 2>/dev/null || not_run "strace may not be used here"
start_collector
enroll faulty
fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "the daemon does not start"
keeper=$(cat "$B/fleetprofd.pid")
failed=0
each() { # each CALL ERROR [WHEN]
  local program tracer
  run --hz 499 --flush-timeout 1s -- "$targets/truth" "$(pick 1 4)" >/dev/null &
  program=$!
  strace -f -qq -p "$(worker)" -e "trace=$1" -e "inject=$1:error=$2:when=${3:-1+2}" -o "$W/calls" 2>/dev/null &
  tracer=$!
  started+=($tracer)
  wait $program || fail "$1 $2: the program ended with $?"
  kill $tracer 2>/dev/null
  wait $tracer 2>/dev/null
  failed=$((failed + $(grep -c INJECTED "$W/calls")))
  kill -0 "$keeper" || fail "$1 $2: the daemon is gone"
}
for fault in "pwritev ENOSPC" "pwritev EIO 1+1" "fdatasync EIO" "ftruncate EIO" "unlinkat EROFS" "connect ECONNREFUSED" "writev EPIPE" \
  "sendto ECONNRESET" "socket EMFILE"; do
  # shellcheck disable=SC2086
  each $fault
done
[ $failed -ge 5 ] || fail "only $failed calls failed"
run --hz 199 -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true "$(pick 30 90)" books_are_closed faulty || fail "the books do not close: $(books faulty), $(status)"
[ "$(cat "$B/fleetprofd.pid")" = "$keeper" ] || fail "it is another daemon"
read -r produced stored dropped _ < <(books faulty)
say "$failed calls failed; produced $produced, stored $stored, dropped $dropped"
