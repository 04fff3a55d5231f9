/* SPDX-License-Identifier: Apache-2.0 */
/* The landing file (staging): makes a batch durable together with its ledger row, before the batch
   settles into the file of its day. Any thread, unless stated otherwise. */
#ifndef STORE_LANDING_H
#define STORE_LANDING_H

#include "store.h"
#include "store_read.h"

#include <sqlite3.h>

struct fault_list;
struct landing;

enum { LANDING_VERSION = 2 /* 1: without marks and faults */ };

/* One row to settle, in order of arrival: a batch, a change of losses, or both. */
struct landing_row {
  uint64_t id;
  uint64_t run, seq;
  uint64_t start_ms, end_ms;
  uint32_t raw_len;
  struct span envelope;      /* zstd; empty if only losses changed, or if BATCH is set */
  const struct batch *batch; /* the decoded envelope, if it is still in memory */
  struct span loss;          /* books_change_encode */
  const char *board, *arch, *kernel, *labels; /* labels: label_text */
};

struct landing_figures {
  uint64_t newest_id;     /* of all rows ever landed */
  uint64_t backlog_bytes; /* of batches not yet settled, uncompressed */
  uint64_t appended, duplicates, refused, failed_commits;
  uint64_t gaps_closed; /* ledger_add */
  uint64_t misplaced;   /* windows too far off the clock, placed at their arrival */
  int append_error;     /* -errno that prevents appending now; 0: none */
};

/* Opens or creates DIR/landing.db and checks it. A damaged or foreign file is set aside, and a new
   one is made from the data of the days (landing_loss.h). Returns 0, or -errno with one line in
   ERROR. */
int landing_open(const char *dir, struct landing **ret, char *error, size_t error_len);
void landing_close(struct landing *landing);

/* Random, set when the file is created: distinguishes this file's ids from those of an earlier
   file. */
uint64_t landing_epoch(const struct landing *landing);

/* As store_append. Also -ENOSPC if the disk, or -EAGAIN if settling, has no capacity for more. */
int landing_append(struct landing *landing, struct store_append *batches, size_t count);
int landing_seen(struct landing *landing, const struct store_board_seen *seen);
int landing_refused(struct landing *landing, const struct store_refusal *refusal);
int landing_last_seq(struct landing *landing, const char *board, uint64_t run, uint64_t *ret);

/* Calls ON_ROW for up to MAX rows after id AFTER, in order, until it returns other than 0. Returns
   the number of rows, a negative result of ON_ROW, or -errno. Settling thread only. */
long landing_take(struct landing *landing, uint64_t after, unsigned max,
                  int (*on_row)(void *context, const struct landing_row *row), void *context);

/* Deletes the rows up to id LAST with batches of RAW_BYTES uncompressed. After a power cut the
   rows may reappear. Settling thread only, or a caller that prevents settling. */
int landing_remove(struct landing *landing, uint64_t last, uint64_t raw_bytes);

/* Makes earlier removals durable. Returns 0 or -errno. */
int landing_flush(struct landing *landing);

/* Returns whether the open file is still the folder's landing.db, and whole. Any thread. */
bool landing_is_in_place(struct landing *landing);

/* Checks again whether there is room for appends (figures.append_error). */
void landing_look(struct landing *landing);

/* Runs CHANGE in its own transaction, durable if IS_DURABLE; rolls back if CHANGE returns other
   than 0. Returns 0 or the first -errno. */
int landing_change(struct landing *landing, bool is_durable,
                   int (*change)(sqlite3 *db, void *context), void *context);

/* The lost files of the folder: faults.h. */
struct fault_list *landing_fault_list(struct landing *landing);

void landing_figures(struct landing *landing, struct landing_figures *ret);

#endif
