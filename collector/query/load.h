/* SPDX-License-Identifier: Apache-2.0 */
/* Load (self time) by function, module or label. */
#ifndef QUERY_LOAD_H
#define QUERY_LOAD_H

#include "query.h"

struct query_load_row {
  const char *name, *module, *file; /* for functions; otherwise "" and NULL */
  wide_sum weight;
  uint64_t count;
  struct view_share share;
  enum ratio_lack lack;
};

struct query_load {
  struct view_tree whole;  /* only its sums; it has no nodes */
  struct view_basis basis; /* of the rows' intervals; a board's own share uses samples only */
  uint32_t count;
  struct query_load_row *rows; /* heaviest first; they add up to the whole */
  bool is_unknown;             /* by a label that no sample has */
  const char *nearest;         /* a suggestion in that case, or "" */
};

/* Adds up the selection of RANGE BY "function" or "module" (those of the leaf) or a label, into
   ARENA. Returns as query_tree. */
int query_load(const struct query_source *source, const struct query_range *range, const char *by,
               struct arena *arena, struct query_load *ret);

#endif
