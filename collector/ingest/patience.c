/* SPDX-License-Identifier: Apache-2.0 */
/* Computes all retry delays.

   Reconnecting. A handshake costs about a millisecond of CPU, and after a restart all boards lose
   their connections at the same moment. The collector accepts RETURNS_A_SECOND of them in each
   second, so a fleet spreads its reconnects over (boards / RETURNS_A_SECOND), and over a second at
   least. 5000 boards take 25 s. The spread is limited to RETURN_MS_MAX, with more reconnects a
   second, so that a fleet of any size is complete again within a minute.

   Refusals. A fault of the collector that should end soon gives a short delay. A fault that a
   person must correct gives a minute, because a board that reconnects each second with a wrong
   certificate costs a handshake each time. A link that was too slow is no fault of the board's: it
   gives no delay.

   Batches. An overloaded collector stays overloaded if batches keep arriving. The longer the
   overload lasts, the longer the delay, up to half a minute. */
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

/* A change by up to a fifth is not worth a message. */
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
