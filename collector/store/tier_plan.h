/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the day's files and blocks from which a range is read, without I/O. */
#ifndef STORE_TIER_PLAN_H
#define STORE_TIER_PLAN_H

#include "tier.h"

#include <stdbool.h>
#include <stddef.h>

/* The content of the file of windows: its own number, and the newest block of each five minutes. */
struct tier_windows {
  bool is_there;
  uint64_t source;
  uint64_t newest_id[TIER_MINUTES_A_DAY]; /* 0: none */
  uint64_t whole_from_ms; /* earlier windows were summed up and some of them deleted */
};

/* The content of a coarser file, indexed by its shortest blocks in the day. */
struct tier_rolled {
  bool is_there;
  bool is_day_alone; /* the blocks of hours were deleted, the day's block was not */
  bool has_others;   /* data of a file of windows other than the present one */
  bool has[TIER_MINUTES_A_DAY];
  uint64_t rolled_id[TIER_MINUTES_A_DAY]; /* the newest block of windows included */
  bool is_grouped[TIER_HOURS_A_DAY + 1];  /* of hours, then the day: also merged over boards */
};

struct tier_state {
  uint64_t day_ms; /* start of the day */
  struct tier_windows windows;
  struct tier_rolled minutes, hours;
};

struct tier_wish {
  uint64_t from_ms, to_ms;
  uint64_t grain_ms;  /* the longest acceptable block; 0: any */
  bool merges_boards; /* blocks merged over boards are acceptable */
};

/* Blocks of TIER. Of windows: those with a midpoint in FROM_MS..TO_MS and an id above AFTER_ID. Of
   other tiers: those that begin in that range. */
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

/* Plans the reads for WISH from a day in STATE. Every sample of a window with its midpoint in the
   range is read exactly once, from blocks as coarse as WISH allows. If finer files are deleted, a
   block at an edge is read whole if its middle is in the range, else not at all. */
void tier_plan_make(const struct tier_state *state, const struct tier_wish *wish,
                    struct tier_plan *ret);

/* Returns the oldest five minutes with windows that end by BEFORE_MS and may be deleted: they and
   all before them are in HOURS, and in MINUTES if that exists. Returns -1 if there are none. */
int tier_plan_spare(const struct tier_state *state, uint64_t before_ms);

/* Returns whether HOURS include all data of the file of windows. */
bool tier_plan_is_rolled(const struct tier_windows *windows, const struct tier_rolled *hours);

#endif
