/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the HTTP server, for /metrics. Any thread. */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct metrics;
struct route;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* Counts an answer. ROUTE is NULL if the request had none. */
void metrics_count(struct metrics *metrics, const struct route *route, int status);

/* Records the duration of a query, from its arrival to its answer. */
void metrics_observe(struct metrics *metrics, uint64_t duration_ns);

/* Calls WORK with CONTEXT under the memory limit LIMIT_BYTES (common/meter.h), and records its peak
   memory. Returns the peak in bytes. */
size_t metrics_meter(struct metrics *metrics, size_t limit_bytes, void (*work)(void *context),
                     void *context);

/* A query was queued; left the queue without being run; began; ended. */
void metrics_query_queued(struct metrics *metrics);
void metrics_query_left(struct metrics *metrics);
void metrics_query_began(struct metrics *metrics);
void metrics_query_ended(struct metrics *metrics);
void metrics_abandoned(struct metrics *metrics); /* a request that was dropped before its answer */

void metrics_connected(struct metrics *metrics);
void metrics_disconnected(struct metrics *metrics);
void metrics_refused(struct metrics *metrics); /* a connection over a limit */

/* Appends all counters in Prometheus text form. */
void metrics_print(const struct metrics *metrics, struct buf *ret);

#endif
