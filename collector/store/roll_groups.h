/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks merged over boards, before they are written. A hash of the board's name selects one of
   STORE_GROUPS groups; series that differ in any other label stay separate. */
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
  uint32_t group; /* group of the board, from 1 */
};

/* Sets RET to the group of the series with label text TEXT. RET is all-zero at first; its buffer is
   reused. Returns 0; -ENOMEM; or -EUCLEAN if TEXT is no label_text. */
int roll_group_of(const char *text, struct roll_group *ret);

/* All-zero is empty. */
struct roll_groups {
  struct table by_slot;
  struct roll_sum *sums;
  uint32_t count, room;
  size_t row_count; /* of all sums */
  struct row_sums merged;
};

/* Adds COUNT rows to SLOT, which has a group, and writes all sums to FILE if there are many rows.
   Returns 0 or -errno. */
int roll_groups_add(struct roll_groups *groups, struct tier_file *file,
                    const struct tier_slot *slot, const struct store_row *rows, size_t count);

/* Writes all sums to FILE and empties GROUPS. Returns 0 or -errno. */
int roll_groups_write(struct roll_groups *groups, struct tier_file *file);
void roll_groups_fini(struct roll_groups *groups);

/* The counts that decide whether a day with these series is worth merging over boards. */
struct roll_census {
  struct table boards, merged;
  uint32_t series_count, board_count, merged_count;
};
int roll_census_add(struct roll_census *census, const char *text, struct roll_group *room);
/* Returns whether merging blocks of TIER pays: if there are many boards and few enough merged
   series. Merged hours, kept for a week, take additional space. */
bool roll_census_is_worth_it(const struct roll_census *census, enum tier tier);
void roll_census_fini(struct roll_census *census);

#endif
