/* SPDX-License-Identifier: Apache-2.0 */
/* How much patience the door asks of boards.  Pure. */
#ifndef INGEST_PATIENCE_H
#define INGEST_PATIENCE_H

#include "refusal.h"

#include <stdbool.h>
#include <stdint.h>

/* Within what time BOARDS boards should come back when all of them lose their connection at once:
   never 0.  In milliseconds, as the next two. */
uint32_t patience_return_ms(uint64_t boards);

/* Whether a board that was told OLD_MS should hear that it is NEW_MS now. */
bool patience_is_news(uint32_t old_ms, uint32_t new_ms);

/* How long a peer that was refused with REFUSAL should stay away; 0: it may come by its own rule.
 */
uint32_t patience_refusal_ms(enum refusal refusal);

/* How long a board should keep a batch that we cannot take now, when that has been so for
   SINCE_NS. */
uint32_t patience_batch_ms(uint64_t since_ns);

#endif
