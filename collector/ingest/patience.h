/* SPDX-License-Identifier: Apache-2.0 */
/* The retry delays sent to boards. Pure. */
#ifndef INGEST_PATIENCE_H
#define INGEST_PATIENCE_H

#include "refusal.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the time over which BOARDS boards should spread their reconnects when all lose their
   connection at once: never 0. In milliseconds, as the next three. */
uint32_t patience_return_ms(uint64_t boards);

/* Returns whether a board that was sent OLD_MS should be sent NEW_MS. */
bool patience_is_news(uint32_t old_ms, uint32_t new_ms);

/* Returns how long a peer rejected with REFUSAL should stay away; 0: its own back-off applies. */
uint32_t patience_refusal_ms(enum refusal refusal);

/* Returns how long a board should keep a batch, if the collector has been overloaded for
   SINCE_NS. */
uint32_t patience_batch_ms(uint64_t since_ns);

#endif
