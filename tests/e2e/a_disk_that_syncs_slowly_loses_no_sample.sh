#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A memory card that takes two seconds for each fdatasync while a program runs: no ring fills up meanwhile.  The
# collector is away, so every batch needs the card.
. "$(dirname "$0")/lib.sh"
cat >"$W/slow.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int fdatasync(int file) {
  int calls = open(getenv("SYNCS"), O_WRONLY | O_APPEND | O_CLOEXEC);
  sleep(2);
  if (calls >= 0 && write(calls, "sync\n", 5) == 5) close(calls);
  return (int)syscall(SYS_fdatasync, file);
}
C
cc -shared -fPIC -o "$W/slow.so" "$W/slow.c" || fail "the slow card is not built"
start_collector
enroll card
stop_collector
export SYNCS=$W/syncs
: >"$SYNCS"
ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD=$W/slow.so fleetprofd --state "$B" --window 1s --collector "127.0.0.1:$A" || fail "fleetprofd ended with $?"
grep -q slow.so "/proc/$(worker)/maps" || { without "a slow card" "this daemon takes no LD_PRELOAD"; exit 77; }
run --hz 199 --sampler perf -- "$targets/chain" 20 2>"$W/err" || fail "the program ended with $?: $(cat "$W/err")"
syncs=$(wc -l <"$SYNCS")
[ "$syncs" -ge 2 ] || fail "the card was not slow while the program ran: $syncs syncs"
# (A daemon that waits for each loses a sixth.)
status --format json | json "d['loss']['dropped']['ring_full'] <= 0.01 * d['loss']['produced'] and d['loss']['produced'] > 100" | grep -q yes ||
  fail "lost: $(status --format json | json "d['loss']")"
say "$syncs syncs of two seconds each while it ran; lost: $(status --format json | json "d['loss']['dropped']['ring_full']")"
