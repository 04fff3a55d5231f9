/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks merged over boards, before they are written: STORE_GROUPS groups of boards by a hash of
   their names, series apart that differ in any other label. */
#ifndef STORE_ROLL_GROUPS_H
#define STORE_ROLL_GROUPS_H

#include "common/buf.h"
#include "common/table.h"
#include "row_sums.h"
#include "tier.h"

struct tier_file;
struct tier_slot;

/* A series' labels without its board. */
struct roll_group {
  struct buf labels;
  uint32_t group; /* of the board, from 1 */
};

/* Sets RET (all zero at first; its buffer is reused) to the group of the series with TEXT.  Returns
   0, -ENOMEM, or -EUCLEAN when TEXT is no label_text. */
int roll_group_of(const char *text, struct roll_group *ret);

/* All-zero is empty. */
struct roll_groups {
  struct table by_slot;
  struct roll_sum *sums;
  uint32_t count, room;
  size_t row_count; /* of all */
  struct row_sums merged;
};

/* Adds COUNT rows to SLOT, which is GROUP's, and writes all to FILE when they are many.  Returns 0
   or -errno. */
int roll_groups_add(struct roll_groups *groups, struct tier_file *file,
                    const struct tier_slot *slot, const struct store_row *rows, size_t count);

/* Writes all to FILE and empties GROUPS.  Returns 0 or -errno. */
int roll_groups_write(struct roll_groups *groups, struct tier_file *file);
void roll_groups_fini(struct roll_groups *groups);

/* What tells whether a day with these series is worth merging over boards. */
struct roll_census {
  struct table boards, merged;
  uint32_t series_count, board_count, merged_count;
};
int roll_census_add(struct roll_census *census, const char *text, struct roll_group *room);
/* Into blocks of TIER it is where there are many boards, and few enough series left:
   hours, of which a week is kept, take as much again as they have blocks. */
bool roll_census_is_worth_it(const struct roll_census *census, enum tier tier);
void roll_census_fini(struct roll_census *census);

#endif
