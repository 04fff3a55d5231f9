/* SPDX-License-Identifier: Apache-2.0 */
/* A ring is a stranger's memory: what it says costs the daemon work (names to look up, mappings and
   files to read), and a stranger can say it as fast as memory is written.  So work for one target
   is measured in CPU time, not in records, whose cost differs a thousandfold.

   Turns are cut where a record ends; a turn may be longer by what one record costs.  Nothing is
   dropped here: what has to wait fills its ring, and who writes into a full ring counts that
   itself.  Only where an account is closed can nothing wait: then one longer turn is given to
   whoever owes, and what is left after that is dropped and counted (drain_run_last). */
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
