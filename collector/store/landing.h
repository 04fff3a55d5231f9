/* SPDX-License-Identifier: Apache-2.0 */
/* The landing file: where a batch becomes durable, with its ledger row, before it settles into the
   file of its day.  Any thread, except where it says otherwise. */
#ifndef STORE_LANDING_H
#define STORE_LANDING_H

#include "store.h"
#include "store_read.h"

#include <sqlite3.h>

struct fault_list;
struct landing;

enum { LANDING_VERSION = 2 /* 1: without marks and faults */ };

/* One thing to settle, in the order in which it came: a batch, a change of losses, or both. */
struct landing_row {
  uint64_t id;
  uint64_t run, seq;
  uint64_t start_ms, end_ms;
  uint32_t raw_len;
  struct span envelope;      /* zstd; empty when only losses changed, and where there is BATCH */
  const struct batch *batch; /* what is in it, when that is still in memory */
  struct span loss;          /* books_change_encode */
  const char *board, *arch, *kernel, *labels; /* labels: label_text */
};

struct landing_figures {
  uint64_t newest_id;     /* of anything ever landed */
  uint64_t backlog_bytes; /* of batches that have not settled, inflated */
  uint64_t appended, duplicates, refused, failed_commits;
  uint64_t gaps_closed; /* ledger_add */
  uint64_t misplaced;   /* windows so far off the clock that they were placed at their arrival */
  int append_error;     /* why nothing can be appended now, as -errno; 0: nothing is wrong */
};

/* Opens (makes) DIR/landing.db and checks it; one that is damaged or not the folder's own is set
   aside and begun anew from what the days know (landing_loss.h).  Returns 0 or -errno with one line
   in ERROR. */
int landing_open(const char *dir, struct landing **ret, char *error, size_t error_len);
void landing_close(struct landing *landing);

/* Random, made with the file: tells this file's ids from those of an earlier one. */
uint64_t landing_epoch(const struct landing *landing);

/* As store_append.  -ENOSPC and -EAGAIN also when the disk, or settling, could not keep up with
   more. */
int landing_append(struct landing *landing, struct store_append *batches, size_t count);
int landing_seen(struct landing *landing, const struct store_board_seen *seen);
int landing_refused(struct landing *landing, const struct store_refusal *refusal);
int landing_last_seq(struct landing *landing, const char *board, uint64_t run, uint64_t *ret);

/* Calls ON_ROW for up to MAX rows after id AFTER, in order, until it returns other than 0.  Returns
   how many, or what ON_ROW returned below 0, or -errno.  Settling thread only. */
long landing_take(struct landing *landing, uint64_t after, unsigned max,
                  int (*on_row)(void *context, const struct landing_row *row), void *context);

/* Deletes the rows up to id LAST, whose batches were RAW_BYTES inflated; after a power cut they may
   be there again.  Settling thread only, or whoever keeps it from settling. */
int landing_remove(struct landing *landing, uint64_t last, uint64_t raw_bytes);

/* From here on what was removed stays away, whatever happens.  Returns 0 or -errno. */
int landing_flush(struct landing *landing);

/* Whether the file that is open is still the one of the folder, and whole.  Any thread. */
bool landing_is_in_place(struct landing *landing);

/* Looks again whether there is room for appends (figures.append_error). */
void landing_look(struct landing *landing);

/* Runs CHANGE in a transaction of its own, which is durable where IS_DURABLE, and undone when
   CHANGE returns other than 0.  Returns 0 or the first -errno. */
int landing_change(struct landing *landing, bool is_durable,
                   int (*change)(sqlite3 *db, void *context), void *context);

/* What was lost of the folder: faults.h. */
struct fault_list *landing_fault_list(struct landing *landing);

void landing_figures(struct landing *landing, struct landing_figures *ret);

#endif
