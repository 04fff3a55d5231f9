/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the callers or callees of one function from stored blocks. */
#ifndef QUERY_EDGES_H
#define QUERY_EDGES_H

#include "near_names.h"
#include "query.h"

#include "linked/edges.h"

struct edges_question {
  const char *function;
  const char *module; /* NULL: any module */
  enum edge_side side;
};

struct edges_result {
  struct view_tree tree; /* of the selection's stacks, with names, marks and loss */
  struct edge_answer answer;
  const char *near_names[NEAR_NAMES_MAX]; /* suggestions if there is no such function */
  unsigned near_count;
};

/* Answers QUESTION for the selection of RANGE, in ARENA. Functions of one name in several modules
   are combined. Returns as query_tree, or -ENOENT if the selection has no such function. */
int edges_query(const struct query_source *source, const struct query_range *range,
                const struct edges_question *question, struct arena *arena,
                struct edges_result *ret);

#endif
