/* SPDX-License-Identifier: Apache-2.0 */
/* When a collector comes back, its boards must not all reconnect at once.  So the wait is random
   over the whole of min(20 s, 2^n s); a jitter added below a cap would disappear at the cap.  Two
   boards that lost the connection at the same moment are apart from the first attempt on.

   Five thousand boards would still reconnect within the first second.  Only the collector has their
   number: it sends a reconnect window, and the wait is random over that from the first failure on.
   The window does not grow at first.  Otherwise a collector that takes seconds to start would get
   most boards in its first seconds.  The boards that had tried too early would be a long tail.  A
   rejection may request a longer wait; that is added, because many boards get the same request at
   once.

   A restored link must be used within half a minute, however long it was cut: 20 s, plus 8 s for
   the repetition of a SYN.  The collector's window may be longer, at most 45 s, so that a fleet
   that has waited for hours is complete again within a minute.

   Random numbers come from the kernel.  Early in a boot, when it has none, the clock is used,
   because boards do not start within the same nanosecond. */
#include "retry.h"

#include "common/clock.h"

#include <stdbool.h>
#include <sys/random.h>

#define RETRY_MIN_NS (50 * NS_PER_MS)
#define RETRY_FIRST_NS (1 * NS_PER_SECOND)
#define RETRY_GROWN_NS (20 * NS_PER_SECOND) /* doubling ends here */
#define RETRY_MAX_NS (45 * NS_PER_SECOND)
#define ASKED_MAX_NS (15 * 60 * NS_PER_SECOND) /* a larger request is taken for a mistake */
#define LASTED_NS (60 * NS_PER_SECOND)         /* a session of this length counts as a success */
#define PAUSE_MIN_NS (100 * NS_PER_MS)
#define PAUSE_MAX_NS (60 * NS_PER_SECOND)

enum {
  FAILURES_MAX = 16,   /* 2^n is beyond RETRY_GROWN_NS long before */
  FAILURES_STEADY = 5, /* the collector's window does not grow before */
};

static uint64_t random_below(uint64_t limit) {
  uint64_t bits;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits)
    bits = clock_monotonic_ns() * 0x9e3779b97f4a7c15ULL;
  return bits % limit;
}

static uint64_t within(uint64_t value, uint64_t low, uint64_t high) {
  if (value < low) return low;
  return value < high ? value : high;
}

void retry_welcome(struct retry *retry, uint64_t now_ns, uint32_t within_ms) {
  retry->welcome_ns = now_ns;
  retry->within_ns = within_ms * NS_PER_MS;
}

void retry_told(struct retry *retry, uint32_t within_ms) {
  if (within_ms != 0) retry->within_ns = within_ms * NS_PER_MS;
}

void retry_asked(struct retry *retry, uint32_t after_ms) {
  retry->asked_ns = within(after_ms * NS_PER_MS, 0, ASKED_MAX_NS);
}

void retry_reset(struct retry *retry) {
  retry->failures = 0;
}

/* The current upper end of the wait. */
static uint64_t cap_of(const struct retry *retry) {
  bool is_told = retry->within_ns != 0;
  unsigned steady = is_told ? FAILURES_STEADY : 0;
  unsigned doubled = retry->failures > steady ? retry->failures - steady : 0;
  uint64_t first_ns =
      within(is_told ? retry->within_ns : RETRY_FIRST_NS, RETRY_FIRST_NS, RETRY_MAX_NS);
  uint64_t grown_ns = within(first_ns << doubled, 0, RETRY_GROWN_NS);
  return grown_ns > first_ns ? grown_ns : first_ns;
}

uint64_t retry_next_ns(struct retry *retry, uint64_t now_ns) {
  if (retry->welcome_ns != 0 && now_ns - retry->welcome_ns >= LASTED_NS) retry_reset(retry);
  retry->welcome_ns = 0;
  uint64_t cap_ns = cap_of(retry);
  if (retry->failures < FAILURES_MAX) retry->failures++;
  uint64_t asked_ns = retry->asked_ns;
  retry->asked_ns = 0;
  return asked_ns + RETRY_MIN_NS + random_below(cap_ns - RETRY_MIN_NS);
}

uint64_t retry_pause_ns(uint32_t after_ms) {
  uint64_t pause_ns = within(after_ms * NS_PER_MS, PAUSE_MIN_NS, PAUSE_MAX_NS);
  return pause_ns + random_below(pause_ns / 4);
}
