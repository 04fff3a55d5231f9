/* SPDX-License-Identifier: Apache-2.0 */
/* A hypervisor takes a CPU away from a virtual machine for some milliseconds. The clock of perf
   events continues meanwhile. The scheduler's clock does not, if the kernel detects the theft
   (CONFIG_PARAVIRT_TIME_ACCOUNTING). That clock is the billed time: getrusage, /proc, CPU clocks.
   So

     stolen = counted - billed

   The count is read first and the clocks later. A late or interrupted reading finds more billed
   time and so proves less: it never invents stolen time. The next reading makes up for it, because
   both sums begin with the target.

   A process may be missing from the billed time, because it was lost in a full ring or its parent
   did not wait for it. Its time would count as stolen. So stolen_ns is limited to twice the
   target's share in the board's own counters (/proc/stat), by its part of the busy time.

   Shipped weights cannot change. If they exceed the billed time, later samples pay with parts of
   their weights. A part is a quarter of a period, as in rate.c: more distinct weights would not
   compress. */
#include "steal_time.h"

static uint64_t minus(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* The target's share of the time that the board has lost since the last reading. */
static uint64_t even_part(const struct steal_time *steal, const struct steal_look *look) {
  uint64_t lost = minus(look->board.stolen_ns, steal->board.stolen_ns) +
                  minus(look->board.interrupt_ns, steal->board.interrupt_ns);
  uint64_t busy = minus(look->board.busy_ns, steal->board.busy_ns);
  uint64_t counted = minus(look->counted_ns, steal->counted_ns);
  if (counted >= busy) return lost;
  return (uint64_t)((double)lost * (double)counted / (double)busy);
}

void steal_time_look(struct steal_time *steal, const struct steal_look *look) {
  steal->likely_ns += even_part(steal, look);
  steal->counted_ns = look->counted_ns;
  if (look->board.busy_ns > 0) steal->board = look->board; /* else /proc/stat was not read */
  if (look->is_partial) return;
  int64_t excess = (int64_t)(look->counted_ns - look->billed_ns);
  if (steal->has_no_base) steal->base_ns = excess - (int64_t)steal->stolen_ns;
  steal->has_no_base = false;
  excess -= steal->base_ns;
  if (excess <= 0) return;
  uint64_t stolen = smaller((uint64_t)excess, STEAL_TIME_LIKELY_TIMES * steal->likely_ns);
  if (stolen > steal->stolen_ns) steal->stolen_ns = stolen;
}

uint64_t steal_time_unproved_ns(const struct steal_time *steal) {
  return minus(steal->likely_ns, steal->stolen_ns);
}

uint64_t steal_time_expected_ns(const struct steal_time *steal, uint64_t counted_ns) {
  if (steal->counted_ns == 0) return 0;
  double share = (double)steal->stolen_ns / (double)steal->counted_ns;
  return (uint64_t)(share * (double)minus(counted_ns, steal->counted_ns));
}

uint64_t steal_time_pay(struct steal_time *steal, const struct steal_sample *sample) {
  uint64_t weight_ns = sample->weight_ns, part_ns = sample->part_ns;
  if (part_ns == 0 || weight_ns <= part_ns) return weight_ns;
  uint64_t most = minus(steal->stolen_ns + sample->expected_ns, steal->paid_ns);
  uint64_t debt = smaller(sample->over_ns, most);
  uint64_t paid = smaller(debt, weight_ns - part_ns);
  paid -= paid % part_ns;
  steal->paid_ns += paid;
  return weight_ns - paid;
}
