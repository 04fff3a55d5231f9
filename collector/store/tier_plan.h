/* SPDX-License-Identifier: Apache-2.0 */
/* From which of a day's files a range is read; pure. */
#ifndef STORE_TIER_PLAN_H
#define STORE_TIER_PLAN_H

#include "tier.h"

#include <stdbool.h>
#include <stddef.h>

/* What the file of windows has: its own number, and the newest block of each five minutes. */
struct tier_windows {
  bool is_there;
  uint64_t source;
  uint64_t newest_id[TIER_MINUTES_A_DAY]; /* 0: none */
  uint64_t whole_from_ms; /* of what was before, once it had been summed up, some was deleted */
};

/* What a coarser file has, by the number of its shortest blocks in the day. */
struct tier_rolled {
  bool is_there;
  bool is_day_alone; /* the blocks of hours were deleted, that of the day was not */
  bool has_others;   /* something of another file of windows than the one there is */
  bool has[TIER_MINUTES_A_DAY];
  uint64_t rolled_id[TIER_MINUTES_A_DAY]; /* the newest block of windows that is in */
  bool is_grouped[TIER_HOURS_A_DAY + 1];  /* of hours, then the day: merged over boards, too */
};

struct tier_state {
  uint64_t day_ms; /* when it begins */
  struct tier_windows windows;
  struct tier_rolled minutes, hours;
};

struct tier_wish {
  uint64_t from_ms, to_ms;
  uint64_t grain_ms;  /* the longest blocks that will do; 0: any */
  bool merges_boards; /* blocks merged over boards will do */
};

/* Blocks of TIER: of windows those with a midpoint in FROM_MS..TO_MS and an id above AFTER_ID; of
   others those that begin there. */
struct tier_piece {
  enum tier tier;
  bool is_grouped;
  uint64_t from_ms, to_ms;
  uint64_t after_id;
};

enum { TIER_PIECES_MAX = 2 * TIER_MINUTES_A_DAY };

struct tier_plan {
  size_t count[DAY_KINDS];
  struct tier_piece pieces[DAY_KINDS][TIER_PIECES_MAX];
};

/* Plans the reading of what WISH asks of the day that STATE tells of: every sample whose window has
   its midpoint in the range exactly once, from blocks as coarse as WISH allows; where finer files
   are gone a block at an edge is taken whole if its middle is in the range. */
void tier_plan_make(const struct tier_state *state, const struct tier_wish *wish,
                    struct tier_plan *ret);

/* The oldest five minutes of WINDOWS that end by BEFORE_MS and can go, since they and all before
   them are in HOURS, and in MINUTES where there are any; -1: none. */
int tier_plan_spare(const struct tier_state *state, uint64_t before_ms);

/* Whether everything that the file of windows has is in HOURS. */
bool tier_plan_is_rolled(const struct tier_windows *windows, const struct tier_rolled *hours);

#endif
