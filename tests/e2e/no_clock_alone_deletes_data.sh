#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A collector that starts with a clock 40 days ahead of its boards deletes no data by age, reports
# which clock it uses, and has everything when its clock is right again.
. "$(dirname "$0")/lib.sh"
cat >"$W/ahead.c" <<'C'
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *ret) {
  int failed = (int)syscall(SYS_clock_gettime, id, ret);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) ret->tv_sec += 40 * 86400;
  return failed;
}
int gettimeofday(struct timeval *restrict ret, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
time_t time(time_t *ret) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (ret != NULL) *ret = now.tv_sec;
  return now.tv_sec;
}
C
cc -D_GNU_SOURCE -shared -fPIC -O2 -o "$W/ahead.so" "$W/ahead.c" || fail "no clock that is ahead"
start_collector
for board in one two; do
  enroll $board
  fleetprofd --state "$B" --collector "127.0.0.1:$A" || fail "no daemon of $board"
  run --service work -- "$targets/truth" 0.5 >/dev/null || fail "truth ended with $?"
done
since=$(($(date +%s) - 3600)) until=$(($(date +%s) + 50 * 86400))
samples() { api profile -d "from=$since" -d "to=$until" --data-urlencode 'match={service="work"}' | json "d['samples']"; }
before=$(samples)
[ "$before" -gt 0 ] || fail "nothing is stored"
stop_collector
LD_PRELOAD=$W/ahead.so collector_up
is_told() { grep -q "retention-clock store: the wall clock is 34[0-9]\{5\} s ahead of the time of boards" "$W/collector.log"; }
until_true 150 is_told || fail "nothing is said of the clock in two rounds: $(cat "$W/collector.log")"
! grep -q store-deleted "$W/collector.log" || fail "something is deleted: $(cat "$W/collector.log")"
[ "$(samples)" -ge "$before" ] || fail "of $before samples $(samples) are there"
stop_collector
collector_up
[ "$(samples)" -ge "$before" ] || fail "the clock is right again, and of $before samples $(samples) are there"
