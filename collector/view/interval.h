/* SPDX-License-Identifier: Apache-2.0 */
/* 95 % intervals; pure mathematics. */
#ifndef VIEW_INTERVAL_H
#define VIEW_INTERVAL_H

#include <stdbool.h>

struct view_share;

/* Returns SHARE, limited to 0..1, with Wilson's score interval for TRIALS (of samples: evidence.h).
   With no trials the interval is 0 to 1. */
struct view_share interval_wilson(double share, double trials);

/* The same with QUANTILE standard errors instead of 1.96. */
struct view_share interval_score(double share, double trials, double quantile);

/* Returns whether SHARE's interval is wider than SHARE itself: there are too few samples, or
   sampling units differ too much. With equal samples that means fewer than about 16. */
bool interval_is_too_wide(const struct view_share *share);

#endif
