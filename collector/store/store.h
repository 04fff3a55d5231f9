/* SPDX-License-Identifier: Apache-2.0 */
/* The interface to the collector's data. Embedded SQLite implements it; a second back end
   (ClickHouse) would have to offer no more than this, so keep it this small.

   A batch becomes durable in the landing file together with its ledger row; after that it may be
   acked. It then settles into the file of its day, and is summed up when its time is over. This
   is the writing half; the reading half is store_read.h. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "proto/batch.h"
#include "proto/limits.h"
#include "proto/messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct opened_batch;
struct store;

enum store_outcome {
  STORE_STORED = 0,
  STORE_DUPLICATE = 1, /* (board, run, seq) is stored already: ack it again */
  STORE_FAILED = 2,    /* not durable: no ack; the board has to retry */
  STORE_REFUSED = 3,   /* its run's books are impossible (books_are_possible): counted, not kept */
};

/* A board's report about itself. NULL or zero fields leave the stored values. */
struct store_board_seen {
  const char *board;
  const char *arch, *kernel, *version, *sampler;
  uint32_t asked_mhz; /* with achieved_mhz; overrides the rate in EFFORT */
  uint32_t achieved_mhz;
  uint32_t cpus; /* 0: unknown */
  uint32_t label_count;
  const struct label *labels;
  const char *clock;               /* "synced", "estimated", "unknown" */
  const struct effort *effort;     /* or NULL */
  const struct counters *counters; /* or NULL */
  bool is_settled;                 /* no batch of a run before COUNTERS' will come */
  const char *refused;             /* why the report is not believed; or NULL */
  uint64_t seen_ms;
};

/* One batch to append. Everything is borrowed until store_append returns, except the object that
   OPENED points to. */
struct store_append {
  const char *board;
  const struct envelope *envelope;
  const struct batch *batch;           /* the envelope's content, decoded */
  struct opened_batch **opened;        /* owner of BATCH's memory. The store may take it over and
                                          set it to NULL; or NULL */
  const struct store_board_seen *seen; /* the report that came with it, without COUNTERS; or NULL */
  uint64_t start_ms, end_ms; /* wall time of the window, placed by the collector's clock */
  uint64_t received_ms;
  enum store_outcome outcome; /* out */
};

/* Opens (creates) the store in DIR. Checks the files and settles rows that a crash left. Returns
   0 or -errno, with one line in ERROR. */
int store_open(const char *dir, struct store **ret, char *error, size_t error_len);
void store_close(struct store *store);

/* Appends COUNT batches in one durable commit and sets each outcome. Returns 0, or -errno if the
   commit failed: then every outcome is STORE_FAILED and nothing was kept. Any thread. */
int store_append(struct store *store, struct store_append *batches, size_t count);

/* Stores a board's report about itself (Hello, Ping) and its books. Returns 0; -ERANGE if its
   counters cannot be true, and then only that refusal is stored; or -errno. Any thread. */
int store_board_seen(struct store *store, const struct store_board_seen *seen);

/* Newest stored seq of RUN of BOARD in RET, 0 when none.  Any thread. */
int store_last_seq(struct store *store, const char *board, uint64_t run, uint64_t *ret);

/* A batch that was refused for good. */
struct store_refusal {
  const char *board;
  uint64_t run, seq, records;
  const char *why; /* shown with the board; NULL: over a quota, which is shown elsewhere */
};

/* Counts REFUSAL, so that the books balance. Any thread. */
int store_refused(struct store *store, const struct store_refusal *refusal);

/* Reason sent to the board for STORE_REFUSED. */
#define STORE_REFUSED_BOOKS \
  "counters: the run has produced fewer records than were stored, or lost before they could be"

/* Inflated bytes that are durable and not yet settled. Any thread. */
uint64_t store_backlog_bytes(struct store *store);

/* Sums up five minutes, hours and days that are over, again if late batches came for them. Call
   it from time to time: answers are right without it, but slow. Returns 0 or -errno. Any thread. */
int store_roll(struct store *store);

/* Retention: times in milliseconds since 1970 (0: no limit by age). */
struct store_keep {
  uint64_t windows_ms; /* delete windows of five minutes that ended before it and are summed up */
  uint64_t minutes_ms; /* delete sums of five minutes of days that ended before it, if their windows
                          are gone */
  uint64_t hours_ms;   /* the same for sums of hours; sums of the day stay */
  uint64_t days_ms;    /* delete everything of days that ended before it, quarantined files too */
  uint64_t max_bytes;  /* limit of all files. Quarantined files are deleted first, then the finest
                          files of the oldest days; 0: none */
};

/* Deletes data beyond KEEP; of today only windows. Waits for scans in progress. Goes on after a
   failure. Returns 0 or the first -errno. Any thread. */
int store_retain(struct store *store, const struct store_keep *keep);

/* Days with an impossible date (day_is_misdated), as of the last store_retain: a clock was wrong
   when they were stored. Queries read them; they are never deleted for their age. */
struct store_misdated {
  uint32_t count, first, last; /* days since 1970 */
};

/* Any thread. */
struct store_misdated store_misdated(const struct store *store);

/* Whether appends fail because the disk is full. Any thread. */
bool store_is_full(struct store *store);

/* How many reads were stale because the disk was full, and how many lack lost data. Any thread. */
uint64_t store_full_reads(const struct store *store);
uint64_t store_incomplete_reads(const struct store *store);

/* Calls ON_TROUBLE for each problem by which the store is incomplete or cannot be written: the
   file or disk, and the consequence. Does not wait for disks. Locks are held during the calls.
   Any thread. */
void store_troubles(struct store *store,
                    void (*on_trouble)(void *context, const char *what, const char *why),
                    void *context);

/* Appends the store's own gauges and counters in Prometheus text form. */
void store_metrics(struct store *store, struct buf *ret);

#endif
