/* SPDX-License-Identifier: Apache-2.0 */
/* A share and its 95 % interval where a part of a whole was seen in several groups; pure
   mathematics. */
#ifndef VIEW_RATIO_H
#define VIEW_RATIO_H

#include "groups.h"

#include <stdbool.h>
#include <stdint.h>

struct view_basis;
struct view_share;

/* What does not depend on the part: made once for a whole, used for all its parts. */
struct ratio {
  double whole, trials;
  unsigned count;
  enum groups_kind kind;
  bool is_grouped;              /* else there are samples alone to go by */
  double wholes[GROUPS_MAX];    /* of each group; 0: it has no say */
  double influence[GROUPS_MAX]; /* of its squared distance from the share on the variance */
  double squares;               /* of the groups' parts of the whole */
  double df, quantile;          /* of the variance */
};

/* A whole that weighs WHOLES[i] in group i of COUNT groups of KIND, TRIALS samples of one weight
   together (evidence.h).  Groups are used where they tell something: two boards or more, or
   GROUPS_TIMES_MIN stretches of time. */
void ratio_init(struct ratio *ratio, enum groups_kind kind, unsigned count,
                const uint64_t wholes[GROUPS_MAX], double trials);

/* Returns the degrees of freedom of the variance of the groups in MASK (bit i: group i) alone. */
double ratio_df(const struct ratio *ratio, uint64_t mask);

/* Returns what the intervals come from. */
struct view_basis ratio_basis(const struct ratio *ratio);

/* The share that PARTS, by group, are together. */
struct view_share ratio_share(const struct ratio *ratio, const uint64_t parts[GROUPS_MAX]);

/* SHARE with its interval, where VARIANCE sums up over groups influence * (its share - SHARE)^2. */
struct view_share ratio_interval(const struct ratio *ratio, double share, double variance);

#endif
