/* SPDX-License-Identifier: Apache-2.0 */
/* A share and its 95 % interval, for a part of a whole in several groups; pure mathematics. */
#ifndef VIEW_RATIO_H
#define VIEW_RATIO_H

#include "groups.h"
#include "strata.h"

#include <stdbool.h>
#include <stdint.h>

struct evidence;
struct view_basis;
struct view_share;

/* The reason for an interval wider than its share. */
enum ratio_lack { RATIO_ENOUGH, RATIO_FEW_SAMPLES, RATIO_FEW_BOARDS };

/* The data that is independent of the part: made once for a whole, used for all its parts. */
struct ratio {
  double whole, trials;
  double sampled; /* the part of the whole that samples could show: 1 less [unsampled] */
  unsigned count;
  enum groups_kind kind;
  bool is_grouped;              /* false: only samples are used */
  double wholes[GROUPS_MAX];    /* of each group; 0: the group is ignored */
  double influence[GROUPS_MAX]; /* factor of its squared distance from the share in the variance */
  double squares;               /* sum of the squared parts of the whole */
  double df, quantile;          /* of the variance */
  struct strata strata;         /* of one selection, if groups are stretches of time */
};

/* Describes a whole with the weight WHOLES[i] in group i of COUNT groups of KIND, and an equivalent
   of TRIALS equal samples (evidence.h). Groups are used if there are at least two boards, or
   GROUPS_TIMES_MIN stretches of time. */
void ratio_init(struct ratio *ratio, enum groups_kind kind, unsigned count,
                const uint64_t wholes[GROUPS_MAX], double trials);

/* Returns the kind of GROUPS by which shares of one selection vary. Boards do vary; stretches of
   time do not, because all of them were selected. */
static inline enum groups_kind ratio_kind_of_shares(const struct groups *groups) {
  return groups->kind == GROUPS_TIMES ? GROUPS_NONE : groups->kind;
}

/* Describes a whole of WEIGHT and EVIDENCE in GROUPS, for the shares of one selection. No sample
   could show UNSAMPLED of it. */
struct ratio_whole {
  const struct groups *groups;
  wide_sum weight, unsampled;
  const struct evidence *evidence;
};
void ratio_init_whole(struct ratio *ratio, const struct ratio_whole *whole);

/* Returns the degrees of freedom of the variance of only the groups in MASK (bit i: group i). */
double ratio_df(const struct ratio *ratio, uint64_t mask);

/* Returns the basis of the intervals. */
struct view_basis ratio_basis(const struct ratio *ratio);

/* Returns the scope of intervals of BASIS: "fleet" for boards like these, or "these" for the
   selection itself. */
const char *ratio_scope(const struct view_basis *basis);

/* Returns the variance of the total share of PARTS, by group. With groups, it is the sum over
   groups of influence * (the group's own share - the share)^2. Otherwise it is that of the strata,
   for the fraction of the sampled time. */
double ratio_variance(const struct ratio *ratio, const uint64_t parts[GROUPS_MAX]);

/* Returns SHARE with its interval, given the VARIANCE from groups or strata; 0: unknown. */
struct view_share ratio_interval(const struct ratio *ratio, double share, double variance);

/* The same for a share measured by clocks, which is exact for these boards. */
struct view_share ratio_told(const struct ratio *ratio, double share, double variance);

/* Returns whether the interval of a sampled share is too wide, and why. */
enum ratio_lack ratio_lack(const struct ratio *ratio, double share, double variance);

/* Returns the largest value of SHARE, of weight that may belong to any function. */
double ratio_reach(const struct ratio *ratio, double share, double variance);

/* Raises the upper end of SHARE by HIDDEN, the largest value of weight that may belong to it. */
void ratio_raise(struct view_share *share, double hidden);

#endif
