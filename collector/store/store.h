/* SPDX-License-Identifier: Apache-2.0 */
/* The one interface to what the collector keeps.  Embedded SQLite stands behind it now; a second
   back end (ClickHouse) will have to offer no more than this, so keep it this small.

   A batch becomes durable in the landing file together with its ledger row (that is the moment to
   ack), then settles into the file of its day, and is summed up when its time is over.  This is the
   writing half; the reading half is store_read.h. */
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
  STORE_DUPLICATE = 1, /* (board, run, seq) is there already: ack it again */
  STORE_FAILED = 2,    /* not durable: do not ack, tell the board to retry */
  STORE_REFUSED = 3,   /* its run's books cannot be (books_are_possible): counted, and not kept */
};

/* What a board said of itself.  NULL or zero fields leave what is known. */
struct store_board_seen {
  const char *board;
  const char *arch, *kernel, *version, *sampler;
  uint32_t asked_mhz; /* beside achieved_mhz; goes before what EFFORT says of it */
  uint32_t achieved_mhz;
  uint32_t cpus; /* 0: not said */
  uint32_t label_count;
  const struct label *labels;
  const char *clock;               /* "synced", "estimated", "unknown" */
  const struct effort *effort;     /* or NULL */
  const struct counters *counters; /* or NULL */
  bool is_settled;                 /* no batch of an earlier run than theirs will come */
  const char *refused;             /* why what it said is not believed; or NULL */
  uint64_t seen_ms;
};

/* One batch to append.  Everything is borrowed until store_append returns, but what OPENED points
   to. */
struct store_append {
  const char *board;
  const struct envelope *envelope;
  const struct batch *batch;           /* the envelope's content, decoded */
  struct opened_batch **opened;        /* what BATCH lives in; taken over, and NULL then, where the
                                          store has use for it; or NULL */
  const struct store_board_seen *seen; /* what came with it, COUNTERS apart; or NULL */
  uint64_t start_ms, end_ms; /* wall time of the window, placed by the collector's clock */
  uint64_t received_ms;
  enum store_outcome outcome; /* out */
};

/* Opens (makes) the store in DIR.  Checks the files, finishes what a crash left unsettled.
   Returns 0 or -errno, with one line in ERROR. */
int store_open(const char *dir, struct store **ret, char *error, size_t error_len);
void store_close(struct store *store);

/* Appends COUNT batches in one durable commit and sets each outcome.  Returns 0, or -errno when
   the commit failed: then every outcome is STORE_FAILED and nothing was kept.  Any thread. */
int store_append(struct store *store, struct store_append *batches, size_t count);

/* Notes what a board said of itself and its books: from Hello and Ping.  Returns 0; -ERANGE when
   its counters cannot be true, which is all that is noted of them; or -errno.  Any thread. */
int store_board_seen(struct store *store, const struct store_board_seen *seen);

/* Newest stored seq of RUN of BOARD in RET, 0 when none.  Any thread. */
int store_last_seq(struct store *store, const char *board, uint64_t run, uint64_t *ret);

/* A batch that was refused for good. */
struct store_refusal {
  const char *board;
  uint64_t run, seq, records;
  const char *why; /* shown with the board; NULL: it was over a quota, which is shown elsewhere */
};

/* Counts REFUSAL, so that the books close.  Any thread. */
int store_refused(struct store *store, const struct store_refusal *refusal);

/* Why a batch was STORE_REFUSED, for the board. */
#define STORE_REFUSED_BOOKS \
  "counters: the run has produced fewer records than were stored, or lost before they could be"

/* How much is durable and waits to settle, inflated.  Any thread. */
uint64_t store_backlog_bytes(struct store *store);

/* Sums up what is over: five minutes, hours and days, also those that late batches came for.  From
   time to time; answers are right without it, and slow.  Returns 0 or -errno.  Any thread. */
int store_roll(struct store *store);

/* What goes: times in milliseconds since 1970 (0: none goes for its age). */
struct store_keep {
  uint64_t windows_ms; /* windows of five minutes that ended before, as far as they are summed up */
  uint64_t
      minutes_ms; /* of days that ended before: sums of five minutes, where the windows are gone */
  uint64_t hours_ms;  /* sums of hours; those of the day stay */
  uint64_t days_ms;   /* everything, what was set aside as damaged too */
  uint64_t max_bytes; /* then what was set aside, then the finest of the oldest days, until all is
                         at most this; 0: any */
};

/* Deletes what KEEP does not want; of today only windows.  Waits for scans under way.  What fails
   does not keep the rest.  Returns 0 or the first -errno.  Any thread. */
int store_retain(struct store *store, const struct store_keep *keep);

/* Days whose date cannot be (day_is_misdated), as store_retain found them last: a clock was wrong
   when they were stored.  They are served, and never deleted for their age. */
struct store_misdated {
  uint32_t count, first, last; /* days since 1970 */
};

/* Any thread. */
struct store_misdated store_misdated(const struct store *store);

/* Whether nothing can be appended because the disk is full.  Any thread. */
bool store_is_full(struct store *store);

/* How many reads were stale for that reason, and how many lack what was lost.  Any thread. */
uint64_t store_full_reads(const struct store *store);
uint64_t store_incomplete_reads(const struct store *store);

/* Calls ON_TROUBLE for each thing that keeps the store from being whole or from being written: the
   file, or the disk, and what that means.  Waits for no disk; with locks held.  Any thread. */
void store_troubles(struct store *store,
                    void (*on_trouble)(void *context, const char *what, const char *why),
                    void *context);

/* Appends the store's own gauges and counters in Prometheus text form. */
void store_metrics(struct store *store, struct buf *ret);

#endif
