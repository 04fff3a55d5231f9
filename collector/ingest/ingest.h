/* SPDX-License-Identifier: Apache-2.0 */
/* The boards' entry point: accepts mutual TLS on one address, reads frames, appends batches, and
   acks only durable data. */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include <stddef.h>
#include <stdint.h>

struct access;
struct buf;
struct ca;
struct debug_store;
struct event_base;
struct ingest;
struct quotas;
struct store;
struct symbolizer;
struct trusted_time;

struct ingest_parts { /* all borrowed; must outlive the ingest */
  struct event_base *loop;
  struct ca *ca;
  struct access *access;
  struct store *store;
  struct debug_store *debug;
  struct symbolizer *symbolizer;
  const char *address;             /* "127.0.0.1:7443" */
  const char *page_url;            /* sent to boards */
  struct quotas *quotas;           /* or NULL: none */
  struct trusted_time *time;       /* receives boards' clocks; or NULL */
  uint64_t memory_limit_bytes;     /* of the whole process; 0: derived from the machine's */
  unsigned handshakes_per_address; /* concurrent handshakes; 0: no limit */
  uint32_t board_cpus_max;         /* largest plausible number of CPUs of a board; 0: LIMIT_CPUS */
};

/* Starts listening.  Returns 0 or -errno, with one line in ERROR. */
int ingest_start(const struct ingest_parts *parts, struct ingest **ret, char *error,
                 size_t error_len);

/* Returns the port in use, which matters if the address left it to the kernel. */
unsigned ingest_port(const struct ingest *ingest);

/* Stops accepting, commits and acks queued jobs within a bounded time, and closes all connections.
   It runs the loop, so call it after the loop has returned, not from one of its callbacks.
   Afterwards only ingest_metrics, ingest_revoked_s and ingest_free may be called. */
void ingest_stop(struct ingest *ingest);

/* Frees INGEST after ingest_stop. NULL is allowed. */
void ingest_free(struct ingest *ingest);

/* Changes the limit memory_limit_bytes. Loop only. */
void ingest_set_memory_limit(struct ingest *ingest, uint64_t bytes);

/* Returns when BOARD was revoked, in seconds since 1970, by the list read last; 0 if it is not
   revoked. Any thread, until ingest_free. */
int64_t ingest_revoked_s(struct ingest *ingest, const char *board);

/* Appends the counters in Prometheus text form. Any thread. */
void ingest_metrics(struct ingest *ingest, struct buf *ret);

#endif
