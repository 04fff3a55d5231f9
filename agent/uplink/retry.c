/* SPDX-License-Identifier: Apache-2.0 */
/* When a collector comes back its boards must not come back together, so the wait is random over
   the whole of min(60 s, 2^n s): a jitter that is added below a cap disappears at the cap.  Two
   boards that lost it at the same moment are apart from the first attempt on.

   Random numbers come from the kernel; early in a boot, when it has none yet, the clock serves,
   because boards do not start within the same nanosecond. */
#include "retry.h"

#include "common/clock.h"

#include <sys/random.h>

#define RETRY_MIN_NS (50 * NS_PER_MS)
#define RETRY_FIRST_NS (1 * NS_PER_SECOND)
#define RETRY_MAX_NS (60 * NS_PER_SECOND)

enum { FAILURES_MAX = 16 /* 2^n is beyond RETRY_MAX_NS long before */ };

static uint64_t random_below(uint64_t limit) {
  uint64_t bits;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits)
    bits = clock_monotonic_ns() * 0x9e3779b97f4a7c15ULL;
  return bits % limit;
}

uint64_t retry_next_ns(struct retry *retry) {
  uint64_t cap_ns = RETRY_FIRST_NS << retry->failures;
  if (cap_ns > RETRY_MAX_NS) cap_ns = RETRY_MAX_NS;
  if (retry->failures < FAILURES_MAX) retry->failures++;
  return RETRY_MIN_NS + random_below(cap_ns - RETRY_MIN_NS);
}

void retry_reset(struct retry *retry) {
  retry->failures = 0;
}
