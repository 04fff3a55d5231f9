/* SPDX-License-Identifier: Apache-2.0 */
/* From stored blocks to answers with names. Everything here runs on the query thread; an answer
   is in the caller's arena. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "view/view.h"

#include <stdbool.h>
#include <stdint.h>

struct cutoff;
struct naming;
struct selector;
struct store;
struct store_forest;
struct store_row;
struct store_series;
struct symbolizer;

/* Limit of stored rows in one answer: some ten seconds of work. */
#define QUERY_ROWS_MAX (1ULL << 30)

/* Limit of nodes of one board, or of a group merged by the store, in an answer about several
   boards; its other nodes are in "[rest]". Naming and summing that many takes some 0.3 s of CPU
   time. */
enum { QUERY_BOARD_NODES = 1 << 16 };

struct query_source {
  struct store *store;
  struct symbolizer *symbolizer;
};

struct query_range {
  const struct selector *selector; /* NULL: everything */
  uint64_t from_ms, to_ms;
  uint32_t types;              /* sample types, one bit each, like SAMPLE_SET_CPU */
  const struct cutoff *cutoff; /* of the request; NULL: none */
  unsigned places;             /* enum place_part: further distinctions of nodes; 0: functions
                                  only */
  const char *by;         /* label: stacks stand below their value of it; NULL: below the root */
  bool is_of_settled;     /* does not wait for unsettled rows, and leaves losses out */
  bool is_of_these;       /* the sampling units are stretches of time of all boards together */
  bool without_intervals; /* no intervals are needed: the tree has no groups */
};

/* Builds the merged, named call tree of the selection RANGE. Returns 0; -ENOMEM at ARENA's
   limit; -EOVERFLOW for more than VIEW_NODES_MAX different nodes; -E2BIG for more than
   QUERY_ROWS_MAX rows; -ETIMEDOUT past RANGE's cutoff, checked every CUTOFF_STEPS rows; or
   -errno from the store. RET gets that cutoff, too. */
int query_tree(const struct query_source *source, const struct query_range *range,
               struct arena *arena, struct view_tree *ret);

/* Receives pairs of PC and link register, row by row. NAMING gives functions of the tree that is
   being built. */
struct query_pairs {
  /* Announces that the following rows are from BOARD's window START_MS..END_MS; called for
     blocks of stacks, too, and not at all without intervals. */
  void (*turn)(void *context, const char *board, uint64_t start_ms, uint64_t end_ms);
  int (*on_row)(void *context, struct naming *naming, const struct store_series *series,
                const struct store_forest *forest, const struct store_row *row);
  void *context;
};

/* Like query_tree, but pairs are passed to PAIRS and are not in the tree. A non-zero result of
 * on_row stops the query, which returns it. */
int query_tree_and_pairs(const struct query_source *source, const struct query_range *range,
                         const struct query_pairs *pairs, struct arena *arena,
                         struct view_tree *ret);

#endif
