/* SPDX-License-Identifier: Apache-2.0 */
/* Load over time. */
#ifndef QUERY_SERIES_H
#define QUERY_SERIES_H

#include "query.h"

enum { SERIES_STEPS_MAX = 11000, SERIES_POINTS_MAX = 4 << 20 };

struct query_point {
  uint64_t time_s; /* start of its step, since 1970: a multiple of the step */
  wide_sum weight; /* never 0: a step without load has no point */
};

struct query_series_row {
  const char *name, *module; /* module: of a function; otherwise "" */
  wide_sum weight;
  uint32_t point_count;
  const struct query_point *points; /* in order of time */
};

struct query_series {
  struct view_tree whole; /* only its sums; it has no nodes */
  uint32_t count;
  struct query_series_row *rows; /* heaviest first */
  uint32_t rest_count;           /* number of further rows, summed up in REST */
  struct query_series_row rest;  /* name is "" */
  bool is_unknown;               /* by a label that no sample has */
  const char *nearest;           /* a suggestion in that case, or "" */
};

struct series_wish {
  const char *by;  /* as in query_load, or NULL: one series of all samples */
  uint64_t step_s; /* in seconds, at least 1; the range has at most SERIES_STEPS_MAX steps */
  uint32_t limit;  /* of rows */
};

/* Adds up the selection of RANGE by WISH and time, into ARENA; all points together are the whole.
   Returns as query_tree; also -EOVERFLOW above SERIES_POINTS_MAX points. */
int query_series(const struct query_source *source, const struct query_range *range,
                 const struct series_wish *wish, struct arena *arena, struct query_series *ret);

/* Returns how many steps of STEP_S seconds FROM_MS..TO_MS touches. */
uint64_t series_step_count(uint64_t from_ms, uint64_t to_ms, uint64_t step_s);

#endif
