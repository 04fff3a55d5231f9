/* SPDX-License-Identifier: Apache-2.0 */
/* From stored blocks to answers with names.  Everything here runs on the query thread; an answer
   lives in the caller's arena. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "view/view.h"

struct selector;
struct store;
struct symbolizer;

struct query_source {
  struct store *store;
  struct symbolizer *symbolizer;
};

struct query_range {
  const struct selector *selector; /* NULL: everything */
  uint64_t from_ms, to_ms;
  uint32_t types;       /* of samples: one bit each, as SAMPLE_SET_CPU */
  uint64_t deadline_ns; /* on clock_monotonic_ns; 0: none */
  bool with_lines;      /* nodes differ by line of source, too: view_node.place */
};

/* Builds the merged, named call tree of everything that RANGE selects.  Returns 0; -ENOMEM when
   ARENA's limit is hit; -EOVERFLOW when the range holds more than VIEW_NODES_MAX different nodes;
   -ETIMEDOUT past the deadline, which is looked at between blocks; or -errno from the store. */
int query_tree(const struct query_source *source, const struct query_range *range,
               struct arena *arena, struct view_tree *ret);

#endif
