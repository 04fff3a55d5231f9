/* SPDX-License-Identifier: Apache-2.0 */
/* What the HTTP side counts of itself, for /metrics.  Any thread. */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct metrics;
struct route;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* Counts an answer; ROUTE is NULL when the request had none. */
void metrics_count(struct metrics *metrics, const struct route *route, int status);

/* Notes how long a query took, from its arrival to its answer. */
void metrics_observe(struct metrics *metrics, uint64_t duration_ns);

/* Has WORK do what it does with CONTEXT within LIMIT_BYTES (common/meter.h), and notes the most
   that it had at once.  Returns that. */
size_t metrics_meter(struct metrics *metrics, size_t limit_bytes, void (*work)(void *context),
                     void *context);

/* A query waits for its turn; leaves without it; has it; its answer is made. */
void metrics_query_queued(struct metrics *metrics);
void metrics_query_left(struct metrics *metrics);
void metrics_query_began(struct metrics *metrics);
void metrics_query_ended(struct metrics *metrics);
void metrics_abandoned(struct metrics *metrics); /* a request before it was answered */

void metrics_connected(struct metrics *metrics);
void metrics_disconnected(struct metrics *metrics);
void metrics_refused(struct metrics *metrics); /* a connection over a limit */

/* Appends all in Prometheus text form. */
void metrics_print(const struct metrics *metrics, struct buf *ret);

#endif
