/* SPDX-License-Identifier: Apache-2.0 */
/* From stored blocks to answers with names.  Everything here runs on the query thread; an answer
   lives in the caller's arena. */
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

/* Of stored rows that one answer is made of: some ten seconds' worth. */
#define QUERY_ROWS_MAX (1ULL << 30)

/* Nodes of one board, or of a group that the store has merged, in an answer about several; what its
   others weigh is in "[rest]".  To name and to sum up so many takes some 0.3 s of CPU time. */
enum { QUERY_BOARD_NODES = 1 << 16 };

struct query_source {
  struct store *store;
  struct symbolizer *symbolizer;
};

struct query_range {
  const struct selector *selector; /* NULL: everything */
  uint64_t from_ms, to_ms;
  uint32_t types;              /* of samples: one bit each, as SAMPLE_SET_CPU */
  const struct cutoff *cutoff; /* of whoever asked; NULL: none */
  unsigned places;             /* enum place_part: what else nodes differ by; 0: functions alone */
  const char *by; /* label: stacks of one value of it stand below that value; NULL: at the root */
  bool is_of_settled;     /* nobody waits for what has not settled yet, and losses are not told */
  bool is_of_these;       /* stretches of time are the sampling units, of all boards together */
  bool without_intervals; /* nobody asks how boards or times differ: the tree has no groups */
};

/* Builds the merged, named call tree of everything that RANGE selects.  Returns 0; -ENOMEM when
   ARENA's limit is hit; -EOVERFLOW when the range holds more than VIEW_NODES_MAX different nodes;
   -E2BIG when it is made of more than QUERY_ROWS_MAX rows; -ETIMEDOUT past RANGE's cutoff, which
   is looked at every CUTOFF_STEPS rows; or -errno from the store.  RET has that cutoff, too. */
int query_tree(const struct query_source *source, const struct query_range *range,
               struct arena *arena, struct view_tree *ret);

/* Pairs of PC and link register, one row after the other, for who makes something of them.  NAMING
   gives functions of the tree that is being built. */
struct query_pairs {
  /* The rows that come next are from BOARD's window START_MS..END_MS; of blocks of stacks, too, and
     never where nobody asks for intervals. */
  void (*turn)(void *context, const char *board, uint64_t start_ms, uint64_t end_ms);
  int (*on_row)(void *context, struct naming *naming, const struct store_series *series,
                const struct store_forest *forest, const struct store_row *row);
  void *context;
};

/* The same, but pairs go to PAIRS and are no part of the tree; what on_row returns but 0 ends it.
 */
int query_tree_and_pairs(const struct query_source *source, const struct query_range *range,
                         const struct query_pairs *pairs, struct arena *arena,
                         struct view_tree *ret);

#endif
