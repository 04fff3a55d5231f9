/* SPDX-License-Identifier: Apache-2.0 */
/* The variance of a share of one selection due to sampling, from its stretches of time; pure
   mathematics. */
#ifndef VIEW_STRATA_H
#define VIEW_STRATA_H

#include "groups.h"

enum { STRATA_TRIALS_MIN = 20 }; /* in one stratum; fewer make its variance too uncertain */

/* Stretches of time with samples, in order, joined until each has enough. All-zero: none. Stratum i
   is the groups group[first[i]] to group[first[i + 1] - 1]. */
struct strata {
  unsigned count, first[GROUPS_MAX + 1];
  unsigned group[GROUPS_MAX];
  double scale[GROUPS_MAX];   /* a part's weight times this is its fraction of the trials */
  double within[GROUPS_MAX];  /* factor of p (1 - p) */
  double between[GROUPS_MAX]; /* factor of the probability to differ from the previous stratum */
};

/* SHOWN (0 to 1) of the trials made a sample; the others are known to lie in no part. */
void strata_init(struct strata *strata, const struct groups *groups, double shown);

/* Returns the fraction of the trials of stratum AT for a part of WEIGHT. */
double strata_fraction(const struct strata *strata, unsigned at, uint64_t weight);

/* Returns the contribution of stratum AT to the variance of a part's fraction of all trials. NOW is
   the part's fraction in stratum AT, BEFORE that in stratum AT - 1. */
double strata_variance(const struct strata *strata, unsigned at, double before, double now);

#endif
