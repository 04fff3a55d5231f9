/* SPDX-License-Identifier: Apache-2.0 */
/* From stored blocks to the callers or callees of one function. */
#ifndef QUERY_EDGES_H
#define QUERY_EDGES_H

#include "near_names.h"
#include "query.h"

#include "linked/edges.h"

struct edges_question {
  const char *function;
  const char *module; /* NULL: in any */
  enum edge_side side;
};

struct edges_result {
  struct view_tree tree; /* of the stacks of the selection: its names, marks and loss */
  struct edge_answer answer;
  const char *near_names[NEAR_NAMES_MAX]; /* when there is no such function */
  unsigned near_count;
};

/* Answers QUESTION for what RANGE selects, in ARENA.  Functions of one name in several modules are
   taken as one.  Returns as query_tree, or -ENOENT when the selection has no such function. */
int edges_query(const struct query_source *source, const struct query_range *range,
                const struct edges_question *question, struct arena *arena,
                struct edges_result *ret);

#endif
