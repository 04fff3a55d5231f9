/* SPDX-License-Identifier: Apache-2.0 */
/* The variance that sampling gives a share of one selection, from its stretches of time; pure
   mathematics. */
#ifndef VIEW_STRATA_H
#define VIEW_STRATA_H

#include "groups.h"

enum { STRATA_TRIALS_MIN = 20 }; /* of one stratum: fewer make its variance too uncertain */

/* Stretches of time that have samples, in order, joined until they have enough.  All-zero: none.
   Stratum i is the groups group[first[i]] to group[first[i + 1] - 1]. */
struct strata {
  unsigned count, first[GROUPS_MAX + 1];
  unsigned group[GROUPS_MAX];
  double scale[GROUPS_MAX];   /* a part's weight times this is its fraction of the trials */
  double within[GROUPS_MAX];  /* factor of p (1 - p) */
  double between[GROUPS_MAX]; /* factor of the chance to differ from the stratum before */
};

/* SHOWN of the trials made a sample (0 to 1); the others are known to lie in no part. */
void strata_init(struct strata *strata, const struct groups *groups, double shown);

/* Returns the fraction of the trials of stratum AT that a part of WEIGHT has. */
double strata_fraction(const struct strata *strata, unsigned at, uint64_t weight);

/* Returns what stratum AT, where a part has the fraction NOW, adds to the variance of the part's
   fraction of all trials.  BEFORE: its fraction in stratum AT - 1. */
double strata_variance(const struct strata *strata, unsigned at, double before, double now);

#endif
