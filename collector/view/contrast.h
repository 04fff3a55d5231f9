/* SPDX-License-Identifier: Apache-2.0 */
/* How surely the shares of two trees differ, by how they differ from group to group. */
#ifndef VIEW_CONTRAST_H
#define VIEW_CONTRAST_H

#include "ratio.h"

struct view_tree;

/* One of the two. */
struct contrast_side {
  const struct view_tree *tree;
  struct ratio ratio;
  unsigned unit[GROUPS_MAX]; /* of each group of the tree: its number in RATIO */
  uint64_t id[GROUPS_MAX];   /* of each unit */
  uint64_t paired;           /* one bit a unit: it is on the other side, too */
  double df_paired, df_alone;
};

struct contrast {
  struct contrast_side a, b;
  unsigned pairs;
};

/* Squared distances of one part's shares, summed up over units: of pairs, and of those on one side
   alone. */
struct contrast_spread {
  double pairs, a, b;
};

/* What DIFFERENCE / sqrt(VARIANCE) is a t of DF degrees of freedom for.  No variance: groups tell
   nothing. */
struct contrast_error {
  double variance, df;
};

/* Finds the units of A and B; borrows both. */
void contrast_init(struct contrast *contrast, const struct view_tree *a, const struct view_tree *b);

/* Returns whether boards are the units of both sides. */
bool contrast_is_of_boards(const struct contrast *contrast);

/* Returns the unit of B that is A's UNIT, or GROUPS_MAX. */
unsigned contrast_partner(const struct contrast *contrast, unsigned unit);

/* Returns how far PART of a unit is from SHARE, in its weight on the sum. */
double contrast_distance(const struct contrast_side *side, unsigned unit, uint64_t part,
                         double share);

/* The error of the difference between the shares A and B with SPREAD. */
struct contrast_error contrast_error(const struct contrast *contrast, double a, double b,
                                     const struct contrast_spread *spread);

#endif
