/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes what is too old or too much, from time to time, on a thread of its own. */
#ifndef COLLECTOR_RETENTION_H
#define COLLECTOR_RETENTION_H

#include <stdint.h>

struct retention;
struct store;

/* Starts: days older than AGE_NS go, and the oldest beyond MAX_BYTES (0: no limit, for each).
   Returns 0 or -errno. */
int retention_start(struct store *store, uint64_t age_ns, uint64_t max_bytes,
                    struct retention **ret);

/* Stops after the round under way. */
void retention_stop(struct retention *retention);

#endif
