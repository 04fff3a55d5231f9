/* SPDX-License-Identifier: Apache-2.0 */
/* The one interface to what the collector keeps.  Embedded SQLite stands behind it now; a second
   back end (ClickHouse) will have to offer no more than this, so keep it this small.

   A batch becomes durable in the landing file together with its ledger row (that is the moment to
   ack), then settles into the file of its day.  Readers see every appended batch: a read first
   waits until what was appended before it has settled. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "proto/batch.h"
#include "proto/limits.h"
#include "proto/messages.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct store;

enum store_outcome {
  STORE_STORED = 0,
  STORE_DUPLICATE = 1, /* (board, run, seq) is there already: ack it again */
  STORE_FAILED = 2,    /* not durable: do not ack, tell the board to retry */
};

/* One batch to append.  Everything is borrowed until store_append returns. */
struct store_append {
  const char *board;
  const struct envelope *envelope;
  const struct batch *batch;  /* the envelope's content, decoded */
  struct span raw;            /* the envelope's content, inflated */
  uint64_t start_ms, end_ms;  /* wall time of the window, placed by the collector's clock */
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

/* Notes what a board said of itself and its books: from Hello, Ping and each batch.  NULL or zero
   fields of SEEN leave what is known.  Any thread. */
struct store_board_seen {
  const char *board;
  const char *arch, *kernel, *version, *sampler;
  uint32_t achieved_mhz;
  uint32_t label_count;
  const struct label *labels;
  const char *clock;               /* "synced", "estimated", "unknown" */
  const struct counters *counters; /* or NULL */
  uint64_t seen_ms;
};
int store_board_seen(struct store *store, const struct store_board_seen *seen);

/* Newest stored seq of RUN of BOARD in RET, 0 when none.  Any thread. */
int store_last_seq(struct store *store, const char *board, uint64_t run, uint64_t *ret);

/* Counts a batch that was refused for good, so that the books close.  Any thread. */
int store_refused(struct store *store, const char *board, uint64_t run, uint64_t seq,
                  uint64_t records);

/* --- reading: query thread --- */

enum { STORE_LABELS_MAX = 64 };

/* All samples of one (board, service, build, thread name, type, labels).  LABELS holds every label
   in name order: board service exe build_id thread arch kernel and the user's own. */
struct store_series {
  uint64_t id; /* stable within one scan */
  uint32_t type;
  uint32_t label_count;
  struct label labels[STORE_LABELS_MAX];
};

/* Returns the value of label NAME, or NULL. */
const char *store_series_label(const struct store_series *series, const char *name);

struct store_module {
  struct span id; /* empty for pseudo modules */
  const char *path;
  enum module_kind kind;
};

struct store_node {
  uint32_t parent; /* index, or BATCH_NONE */
  uint32_t module;
  uint64_t address;
};

/* The nodes and modules that rows refer to.  Parents come before children. */
struct store_forest {
  uint64_t id; /* equal ids: the same forest as in an earlier call of this scan */
  uint32_t node_count, module_count;
  const struct store_node *nodes;
  const struct store_module *modules;
};

struct store_row {
  uint32_t node; /* leaf of the stack: index into the forest */
  uint64_t count, weight;
};

struct store_scan {
  uint64_t from_ms, to_ms; /* a block belongs to the range that holds its midpoint */
  uint32_t type;
  /* Returns whether SERIES is wanted. */
  int (*matches)(void *context, const struct store_series *series);
  /* One block of SERIES, which covers START_MS..END_MS.  Non-zero stops the scan, which returns
     it.  NULL: only `matches` is called, once for each series. */
  int (*on_block)(void *context, const struct store_series *series,
                  const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                  const struct store_row *rows, size_t count);
  void *context;
};

/* Walks all blocks that SCAN wants, after everything appended so far has settled.  Returns 0,
   -errno, or what on_block returned.  Pointers are valid during the call-back only, forests until
   the scan ends. */
int store_scan(struct store *store, const struct store_scan *scan);

/* Adds, into LOSS[LOSS_REASON_COUNT], the records that BOARD (NULL: all) dropped in the range. */
int store_loss_in_range(struct store *store, const char *board, uint64_t from_ms, uint64_t to_ms,
                        uint64_t *loss);

struct store_board {
  const char *name, *arch, *kernel, *version, *sampler, *clock;
  uint32_t achieved_mhz;
  uint32_t label_count;
  struct label labels[LIMIT_LABELS];
  uint64_t first_seen_ms, last_seen_ms;
  uint64_t produced, stored;              /* over all runs, in records */
  uint64_t dropped[LOSS_REASON_COUNT];
  uint64_t pending; /* produced - stored - dropped: still with the board */
};

/* Calls ON_BOARD for each board in name order.  Returns 0 or -errno. */
int store_boards(struct store *store,
                 int (*on_board)(void *context, const struct store_board *board), void *context);

/* Appends the store's own gauges and counters in Prometheus text form. */
void store_metrics(struct store *store, struct buf *ret);

#endif
