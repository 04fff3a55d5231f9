/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time was spent, by whatever samples can be told apart. */
#ifndef QUERY_LOAD_H
#define QUERY_LOAD_H

#include "query.h"

struct query_load_row {
  const char *name, *module,
      *file; /* module and file: of functions; module is "", file NULL else */
  wide_sum weight;
  uint64_t count;
  struct view_share share;
  enum ratio_lack lack;
};

struct query_load {
  struct view_tree whole;  /* its sums; no nodes */
  struct view_basis basis; /* of the rows' intervals; a board's own share knows samples alone */
  uint32_t count;
  struct query_load_row *rows; /* heaviest first; they add up to the whole */
  bool is_unknown;             /* by a label that no sample has */
  const char *nearest;         /* then: one that may have been meant, or "" */
};

/* Adds up what RANGE selects BY "function", "module" (each that of the leaf) or a label, into
   ARENA. Returns as query_tree does. */
int query_load(const struct query_source *source, const struct query_range *range, const char *by,
               struct arena *arena, struct query_load *ret);

#endif
