/* SPDX-License-Identifier: Apache-2.0 */
/* The boards' door: accepts mutual TLS on one address, reads frames, appends batches, acks only
   what is durable. */
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

struct ingest_parts { /* all borrowed, and outlive the ingest */
  struct event_base *loop;
  struct ca *ca;
  struct access *access;
  struct store *store;
  struct debug_store *debug;
  struct symbolizer *symbolizer;
  const char *address;             /* "127.0.0.1:7443" */
  const char *page_url;            /* sent to boards */
  struct quotas *quotas;           /* or NULL: none */
  struct trusted_time *time;       /* hears what boards' clocks say; or NULL */
  uint64_t memory_limit_bytes;     /* of the whole process; 0: a share of what it may have */
  unsigned handshakes_per_address; /* under way at once; 0: no limit */
  uint32_t board_cpus_max;         /* that a board may say it has; 0: LIMIT_CPUS */
};

/* Starts listening.  Returns 0 or -errno, with one line in ERROR. */
int ingest_start(const struct ingest_parts *parts, struct ingest **ret, char *error,
                 size_t error_len);

/* The port that it listens on (the address may have asked for any). */
unsigned ingest_port(const struct ingest *ingest);

/* Stops accepting, lets what is queued commit and be acked (bounded), closes all.  Turns the loop
   for that, so call it when the loop has returned, not from one of its call-backs.  What is left
   is ingest_metrics. */
void ingest_stop(struct ingest *ingest);

/* Frees what was stopped.  NULL is fine. */
void ingest_free(struct ingest *ingest);

/* Another limit from now on, as memory_limit_bytes.  Loop only. */
void ingest_set_memory_limit(struct ingest *ingest, uint64_t bytes);

/* Returns since when BOARD is revoked, in seconds since 1970, as the list says that was read last;
   0: it is not.  Any thread, until ingest_free. */
int64_t ingest_revoked_s(struct ingest *ingest, const char *board);

/* Appends counters in Prometheus text form.  Any thread. */
void ingest_metrics(struct ingest *ingest, struct buf *ret);

#endif
