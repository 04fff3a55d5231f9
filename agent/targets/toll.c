/* SPDX-License-Identifier: Apache-2.0 */
/* A ring is untrusted memory. Its records cost the daemon work (names to look up, mappings and
   files to read), and a target can write them as fast as memory. So work for a target is measured
   in CPU time, not in records: their cost differs by a factor of a thousand.

   Turns end where a record ends, so a turn may exceed its limit by the cost of one record. Nothing
   is dropped here: waiting records fill the ring, and the writer into a full ring counts its
   losses. Only when an account is closed can nothing wait. Then a target in debt gets one longer
   turn, and the remaining records are dropped and counted (drain_run_last). */
#include "toll.h"

#include "common/clock.h"

enum { PERCENT = 100 };

void toll_leak(struct toll *toll, uint64_t now_ns, unsigned share_percent) {
  uint64_t passed = now_ns > toll->leaked_ns ? now_ns - toll->leaked_ns : 0;
  uint64_t leaks = passed / PERCENT * share_percent;
  toll->debt_ns = toll->debt_ns > leaks ? toll->debt_ns - leaks : 0;
  toll->leaked_ns = now_ns;
}

bool toll_may_pass(struct toll *toll, uint64_t now_ns) {
  toll_leak(toll, now_ns, TOLL_SHARE_PERCENT);
  return toll->debt_ns < TOLL_BURST_MS * NS_PER_MS;
}

void toll_begin_last(struct toll *toll, unsigned turn_ms) {
  toll->begun_ns = clock_cpu_ns();
  toll->turn_ns = turn_ms * NS_PER_MS;
}

bool toll_begin(struct toll *toll, unsigned turn_ms) {
  if (!toll_may_pass(toll, clock_monotonic_ns())) return false;
  toll_begin_last(toll, turn_ms);
  return true;
}

bool toll_is_over(const struct toll *toll) {
  return clock_cpu_ns() - toll->begun_ns >= toll->turn_ns;
}

uint64_t toll_end(struct toll *toll) {
  uint64_t spent_ns = clock_cpu_ns() - toll->begun_ns;
  toll->debt_ns += spent_ns;
  return spent_ns;
}
