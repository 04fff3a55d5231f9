/* SPDX-License-Identifier: Apache-2.0 */
/* The reading half of the store: for the query thread, and store_boards for the monitor thread,
   too. Readers see every appended batch: a read first waits until all batches appended before it
   have settled. If the disk fails or that takes longer than 10 s, the read goes on without them
   and counts as stale. */
#ifndef STORE_STORE_READ_H
#define STORE_STORE_READ_H

#include "proto/batch.h"
#include "proto/limits.h"
#include "proto/payloads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cutoff;
struct store;

enum {
  STORE_LABELS_MAX = 64,
  STORE_GROUPS = 32,       /* groups that boards are merged into, where a scan allows it */
  STORE_BOARDS_APART = 64, /* more boards than this are merged */
};

/* All samples of one (board, service, build, thread name, type, labels).  LABELS holds every label
   in name order: board service exe build_id thread arch kernel and the user's own. */
struct store_series {
  uint64_t id; /* stable within one scan; the same for all types of the same labels */
  uint32_t type;
  uint32_t marks; /* on_block: enum batch_mark of the block's windows */
  uint32_t group; /* 1 + table_hash(board) % STORE_GROUPS: a group of boards, without a label
                     `board`; 0: one board */
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
  uint32_t rest; /* 1 + the node for stacks that a scan does not distinguish; 0: there is none */
};

struct store_row {
  uint32_t node; /* leaf of the stack: index into the forest */
  uint64_t count, weight;
};

struct store_scan {
  uint64_t from_ms, to_ms; /* a window belongs to the range that holds its midpoint */
  uint64_t grain_ms;       /* the longest blocks allowed: windows may be summed up; 0: any */
  bool merges_boards;      /* blocks of a group of boards are allowed */
  bool is_of_settled;      /* does not wait: rows that have not settled are left out */
  bool sums_will_do;       /* a block may be one row, the sum of its rows, of no node of an empty
                              forest */
  uint64_t rows_max;       /* -E2BIG for more rows; 0: no limit */
  uint32_t board_nodes;    /* of a board or group; the others become STORE_REST (scan.c); 0: all */
  uint32_t types;          /* the types wanted, one bit each, like SAMPLE_SET_CPU */
  /* Returns whether SERIES is wanted; called once for all types (and groups) of the same labels.
     A negative value stops the scan, which returns it. */
  int (*matches)(void *context, const struct store_series *series);
  /* One block of SERIES, which covers START_MS..END_MS: a window's, or a sum of several. A
     non-zero result stops the scan, which returns it. NULL: only `matches` is called, once for
     each series. */
  int (*on_block)(void *context, const struct store_series *series,
                  const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                  const struct store_row *rows, size_t count);
  const struct cutoff *cutoff; /* checked at each series and stored block, and while waiting */
  void *context;
};

/* Walks the blocks selected by SCAN, each sample once, after everything appended before has
   settled. Returns 0, -errno (-ETIMEDOUT past the cutoff), or the result of on_block. Pointers
   are valid during the call-back only; a forest of the same id has the same nodes. */
int store_scan(struct store *store, const struct store_scan *scan);

/* Number of stale reads, and how many of them were due to a backlog. Any thread. */
uint64_t store_stale_reads(const struct store *store);
uint64_t store_late_reads(const struct store *store);

struct store_names {
  const char *const *names; /* in the order of strcmp */
  size_t count;
};

/* Adds, into LOSS[LOSS_REASON_COUNT], the records that BOARDS (NULL: all) lost in the range.
   Returns 0 or -errno (-ETIMEDOUT past CUTOFF, which may be NULL). */
int store_loss_in_range(struct store *store, const struct store_names *boards, uint64_t from_ms,
                        uint64_t to_ms, const struct cutoff *cutoff, uint64_t *loss);

struct store_board {
  const char *name, *arch, *kernel, *version, *sampler, *clock;
  uint32_t achieved_mhz, label_count;
  struct label labels[LIMIT_LABELS];
  struct effort effort; /* budget_state is empty if the board never reported any */
  uint64_t first_seen_ms, last_seen_ms;
  uint64_t produced, stored, dropped[LOSS_REASON_COUNT]; /* over all runs, in records */
  uint64_t pending;        /* produced - stored - dropped: still with the board */
  const char *refused_why; /* reason of the last of REFUSED refusals for good */
  uint64_t refused, refused_ms;
  uint32_t cpus, cpus_most; /* as last reported, and the most ever reported; 0: not reported */
  uint64_t cpus_changed_ms; /* when it last reported another number; 0: never */
};

/* Calls ON_BOARD for each board in name order.  Returns 0 or -errno (-ESTALE: no landing.db). */
int store_boards(struct store *store,
                 int (*on_board)(void *context, const struct store_board *board), void *context);

#endif
