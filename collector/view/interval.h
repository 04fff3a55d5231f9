/* SPDX-License-Identifier: Apache-2.0 */
/* 95 % intervals; pure mathematics. */
#ifndef VIEW_INTERVAL_H
#define VIEW_INTERVAL_H

#include <stdbool.h>

struct view_share;

/* SHARE, taken between 0 and 1, with Wilson's score interval for TRIALS (of samples: evidence.h).
   No trials: anything may be true, 0 to 1. */
struct view_share interval_wilson(double share, double trials);

/* The same within QUANTILE standard errors instead of 1.96. */
struct view_share interval_score(double share, double trials, double quantile);

/* True when SHARE's interval is wider than itself: too few samples, or sampling units that differ
   too much, to say how large it is.  Of single samples that is fewer than about 16. */
bool interval_is_too_wide(const struct view_share *share);

#endif
