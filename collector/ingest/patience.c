/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers behind every "later".

   Coming back.  A handshake costs about a millisecond of CPU, and after a restart all boards have
   lost their connections in the same moment.  RETURNS_A_SECOND of them are welcome in each second,
   so a fleet is told to spread over (boards / that); a small one may come within a second.  5000
   boards take 25 s.  Beyond RETURN_MS_MAX it is more of them a second instead: a fleet should be
   whole again within a minute, whatever its size.

   Refusals.  What only we can mend, and soon, asks for a little patience; what somebody has to put
   right asks for a minute, because a board that comes each second with a wrong certificate costs a
   handshake each time.  A link that was too slow is no fault of the board's: no patience is asked.

   Batches.  When we are behind, more of the same would keep us behind: the longer it lasts, the
   longer they are kept away, up to half a minute. */
#include "patience.h"

#include "common/clock.h"

enum {
  RETURNS_A_SECOND = 200,
  RETURN_MS_MIN = 1000,
  RETURN_MS_MAX = 40 * 1000,
  SOON_MS = 5 * 1000,
  LATER_MS = 60 * 1000,
  BATCH_MS_MIN = 5 * 1000,
  BATCH_MS_MAX = 30 * 1000,
};

static uint32_t between(uint64_t value, uint32_t low, uint32_t high) {
  if (value < low) return low;
  return value < high ? (uint32_t)value : high;
}

uint32_t patience_return_ms(uint64_t boards) {
  return between(boards * 1000 / RETURNS_A_SECOND, RETURN_MS_MIN, RETURN_MS_MAX);
}

/* A fifth more or less changes nothing for anybody. */
bool patience_is_news(uint32_t old_ms, uint32_t new_ms) {
  uint32_t apart = old_ms > new_ms ? old_ms - new_ms : new_ms - old_ms;
  return apart > old_ms / 5;
}

uint32_t patience_refusal_ms(enum refusal refusal) {
  switch (refusal) {
  case REFUSAL_TIMEOUT:
  case REFUSAL_SLOW_READER:
    return 0;
  case REFUSAL_CONNECTION_LIMIT:
  case REFUSAL_OVERLOADED:
  case REFUSAL_OUTLIVED:
  case REFUSAL_STORE:
  case REFUSAL_MEMORY:
    return SOON_MS;
  default:
    return LATER_MS;
  }
}

uint32_t patience_batch_ms(uint64_t since_ns) {
  return between(since_ns / NS_PER_MS, BATCH_MS_MIN, BATCH_MS_MAX);
}
