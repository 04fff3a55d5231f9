/* SPDX-License-Identifier: Apache-2.0 */
/* 95 % intervals; pure mathematics. */
#ifndef VIEW_INTERVAL_H
#define VIEW_INTERVAL_H

struct view_share;

/* SHARE, taken between 0 and 1, with Wilson's score interval for TRIALS (of samples: evidence.h).
   No trials: anything may be true, 0 to 1. */
struct view_share interval_wilson(double share, double trials);

/* The same within QUANTILE standard errors instead of 1.96. */
struct view_share interval_score(double share, double trials, double quantile);

#endif
