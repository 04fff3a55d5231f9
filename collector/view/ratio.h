/* SPDX-License-Identifier: Apache-2.0 */
/* A share and its 95 % interval where a part of a whole was seen in several groups; pure
   mathematics. */
#ifndef VIEW_RATIO_H
#define VIEW_RATIO_H

#include "groups.h"
#include "strata.h"

#include <stdbool.h>
#include <stdint.h>

struct evidence;
struct view_basis;
struct view_share;

/* Why an interval is wider than its share. */
enum ratio_lack { RATIO_ENOUGH, RATIO_FEW_SAMPLES, RATIO_FEW_BOARDS };

/* What does not depend on the part: made once for a whole, used for all its parts. */
struct ratio {
  double whole, trials;
  double sampled; /* the part of the whole that a sample could have shown: 1 less [unsampled] */
  unsigned count;
  enum groups_kind kind;
  bool is_grouped;              /* else there are samples alone to go by */
  double wholes[GROUPS_MAX];    /* of each group; 0: it has no say */
  double influence[GROUPS_MAX]; /* of its squared distance from the share on the variance */
  double squares;               /* of the groups' parts of the whole */
  double df, quantile;          /* of the variance */
  struct strata strata;         /* of one selection, where groups are stretches of time */
};

/* A whole that weighs WHOLES[i] in group i of COUNT groups of KIND, TRIALS samples of one weight
   together (evidence.h).  Groups are used where they tell something: two boards or more, or
   GROUPS_TIMES_MIN stretches of time. */
void ratio_init(struct ratio *ratio, enum groups_kind kind, unsigned count,
                const uint64_t wholes[GROUPS_MAX], double trials);

/* The kind of GROUPS by which shares of one selection vary: boards do, one board's stretches of
   time were all selected. */
static inline enum groups_kind ratio_kind_of_shares(const struct groups *groups) {
  return groups->kind == GROUPS_TIMES ? GROUPS_NONE : groups->kind;
}

/* A whole of WEIGHT and EVIDENCE as GROUPS have it, of which UNSAMPLED no sample could show, for
   the shares of one selection. */
struct ratio_whole {
  const struct groups *groups;
  wide_sum weight, unsampled;
  const struct evidence *evidence;
};
void ratio_init_whole(struct ratio *ratio, const struct ratio_whole *whole);

/* Returns the degrees of freedom of the variance of the groups in MASK (bit i: group i) alone. */
double ratio_df(const struct ratio *ratio, uint64_t mask);

/* Returns what the intervals come from. */
struct view_basis ratio_basis(const struct ratio *ratio);

/* Returns what intervals of BASIS are about: "fleet", boards like these, or "these", what was
   selected itself. */
const char *ratio_scope(const struct view_basis *basis);

/* Returns the variance of the share that PARTS, by group, are together: where groups are used, the
   sum over groups of influence * (the group's own share - the share)^2; else that of the strata, of
   the fraction of what could be sampled. */
double ratio_variance(const struct ratio *ratio, const uint64_t parts[GROUPS_MAX]);

/* SHARE with its interval, where groups or strata make its VARIANCE; 0: unknown. */
struct view_share ratio_interval(const struct ratio *ratio, double share, double variance);

/* The same for a share that clocks measured, which is exact for these boards. */
struct view_share ratio_told(const struct ratio *ratio, double share, double variance);

/* Whether that interval, of a share that was sampled, is too wide to say how large it is. */
enum ratio_lack ratio_lack(const struct ratio *ratio, double share, double variance);

/* Returns how large SHARE, of weight that may belong to any function, is at the most. */
double ratio_reach(const struct ratio *ratio, double share, double variance);

/* Raises the upper end of SHARE by HIDDEN, the reach of what may belong to it. */
void ratio_raise(struct view_share *share, double hidden);

#endif
