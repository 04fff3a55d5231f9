#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The board's disk becomes full, then its syncs fail, then it is read-only, each while a program
# runs and the collector is away: nothing ends, rejected writes wait in memory, and all batches
# arrive. (A full disk from the start, while a file is begun and with every other call:
# tests/unit/spool/spool_fault_test.c.)
if [ -z "${FLEETPROF_UNSHARED:-}" ]; then
  export FLEETPROF_UNSHARED=1
  for how in "-m" "-rm" "-m --propagation unchanged"; do
    # shellcheck disable=SC2086
    unshare $how true 2>/dev/null && exec unshare $how "$0"
  done
  echo "not run: this user may not mount a small disk here"
  exit 77
fi
. "$(dirname "$0")/lib.sh"
start_collector
enroll weak
mkdir "$B/spool"
mount -t tmpfs -o size=256k tmpfs "$B/spool" || not_run "a small disk cannot be mounted"
fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "the daemon does not start"
program() { run --hz 997 --flush-timeout "$1" -- "$targets/truth" 1 >/dev/null || fail "$2: the program ended with $?"; }
in_memory() { [ "$(asked "d['spool']['memory_records']")" -gt 0 ]; }
all_arrived() { [ "$(asked "d['spool']['entries']")" = 0 ]; }
arrives() {
  collector_up
  until_true 70 all_arrived || fail "$1: the queue stands still: $(status)"
  [ -z "$(lost)" ] || fail "$1: lost $(lost)"
  books_are_exact || fail "$1: the books: $(asked "d['loss']")"
  say "$1: $(produced) samples produced, none lost; last error: $(asked "d['spool']['error']")"
}
program 5s before
stop_collector
dd if=/dev/zero of="$B/spool/filler" bs=1k >/dev/null 2>&1
# A batch of less than a kilobyte may find room in the last page of the file for a while.
for _ in {1..12}; do in_memory || program 0s "a full disk"; done
in_memory || fail "a full disk: nothing waits in memory: $(asked "d['spool']")"
rm "$B/spool/filler"
arrives "a full disk"
# refuses CALLS ERROR WHAT: a disk whose file system became read-only after an error, or that cannot
# sync.
refuses() {
  stop_collector
  strace -f -qq -p "$(worker)" -e "trace=$1" -e "inject=$1:error=$2" -o "$W/calls" 2>/dev/null &
  local tracer=$!
  started+=($tracer)
  program 1s "$3"
  kill $tracer; wait $tracer 2>/dev/null
  grep -q INJECTED "$W/calls" || fail "$3: nothing was refused"
  kill -0 "$(cat "$B/fleetprofd.pid")" || fail "$3: the daemon is gone"
}
if strace -o /dev/null true 2>/dev/null; then
  refuses fdatasync EIO "syncs that fail"
  [ "$(asked "d['spool']['failed_syncs']")" -ge 1 ] || fail "no sync has failed: $(asked "d['spool']")"
  arrives "syncs that fail"
  refuses ftruncate,unlinkat,renameat EROFS "a read-only disk"
  arrives "a read-only disk"
else
  without "syncs that fail" "strace may not be used here"
fi
run --hz 199 -- "$targets/truth" 1 >/dev/null || fail "the program ended with $?"
until_true 30 books_are_closed weak || fail "the books do not close: $(books weak)"
