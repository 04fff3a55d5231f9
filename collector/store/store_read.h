/* SPDX-License-Identifier: Apache-2.0 */
/* The reading half of the store: for the query thread, and store_boards for the monitor thread,
   too.  Readers see every appended batch: a read first waits until what was appended before it has
   settled.  Where that cannot be because the disk fails, or takes longer than 10 s, reads go
   without it and count as stale. */
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
  STORE_GROUPS = 32,       /* that boards are merged into, where a scan allows it */
  STORE_BOARDS_APART = 64, /* of more they are */
};

/* All samples of one (board, service, build, thread name, type, labels).  LABELS holds every label
   in name order: board service exe build_id thread arch kernel and the user's own. */
struct store_series {
  uint64_t id; /* stable within one scan; the same for all types of the same labels */
  uint32_t type;
  uint32_t marks; /* on_block: enum batch_mark of the windows that the block is from */
  uint32_t group; /* 1 + table_hash(board) % STORE_GROUPS: of those boards, without a label `board`;
                     0: of one board */
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
  uint32_t rest; /* the node of what a scan does not tell apart, and one; 0: there is none */
};

struct store_row {
  uint32_t node; /* leaf of the stack: index into the forest */
  uint64_t count, weight;
};

struct store_scan {
  uint64_t from_ms, to_ms; /* a window belongs to the range that holds its midpoint */
  uint64_t grain_ms;       /* the longest blocks that will do: windows may be summed up; 0: any */
  bool merges_boards;      /* blocks of a group of boards will do */
  bool is_of_settled;      /* nobody waits: what has not settled yet is left out */
  bool sums_will_do;       /* a block is one row, of no node of an empty forest: its rows' sum */
  uint64_t rows_max;       /* more rows than that are -E2BIG; 0: no limit */
  uint32_t board_nodes;    /* of a board or group; its others are STORE_REST (scan.c); 0: all */
  uint32_t types;          /* which are wanted: one bit each, as SAMPLE_SET_CPU */
  /* Returns whether SERIES is wanted, asked once for all types (and groups) of the same labels;
     what is below 0 stops the scan, which returns it. */
  int (*matches)(void *context, const struct store_series *series);
  /* One block of SERIES, which covers START_MS..END_MS: a window's, or a sum of several.  Non-zero
     stops the scan, which returns it.  NULL: only `matches` is called, once for each series. */
  int (*on_block)(void *context, const struct store_series *series,
                  const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                  const struct store_row *rows, size_t count);
  const struct cutoff *cutoff; /* looked at at each series and stored block, and while waiting */
  void *context;
};

/* Walks blocks that make up what SCAN wants, each sample once, after everything appended so far has
   settled.  Returns 0, -errno (-ETIMEDOUT past the cutoff), or what on_block returned.  Pointers
   are valid during the call-back only; a forest of the same id has the same nodes. */
int store_scan(struct store *store, const struct store_scan *scan);

/* How many reads were stale so far, and how many of these because of a backlog.  Any thread. */
uint64_t store_stale_reads(const struct store *store);
uint64_t store_late_reads(const struct store *store);

struct store_names {
  const char *const *names; /* in the order of strcmp */
  size_t count;
};

/* Adds, into LOSS[LOSS_REASON_COUNT], the records that BOARDS (NULL: all) dropped in the range.
   Returns 0 or -errno (-ETIMEDOUT past CUTOFF, which may be NULL). */
int store_loss_in_range(struct store *store, const struct store_names *boards, uint64_t from_ms,
                        uint64_t to_ms, const struct cutoff *cutoff, uint64_t *loss);

struct store_board {
  const char *name, *arch, *kernel, *version, *sampler, *clock;
  uint32_t achieved_mhz, label_count;
  struct label labels[LIMIT_LABELS];
  struct effort effort; /* budget_state is empty when the board never said any of it */
  uint64_t first_seen_ms, last_seen_ms;
  uint64_t produced, stored, dropped[LOSS_REASON_COUNT]; /* over all runs, in records */
  uint64_t pending;        /* produced - stored - dropped: still with the board */
  const char *refused_why; /* of the last of REFUSED things it sent that were refused for good */
  uint64_t refused, refused_ms;
  uint32_t cpus, cpus_most; /* as it said last, and at most; 0: it says nothing of it */
  uint64_t cpus_changed_ms; /* when it said another number than before; 0: it never did */
};

/* Calls ON_BOARD for each board in name order.  Returns 0 or -errno (-ESTALE: no landing.db). */
int store_boards(struct store *store,
                 int (*on_board)(void *context, const struct store_board *board), void *context);

#endif
