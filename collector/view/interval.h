/* SPDX-License-Identifier: Apache-2.0 */
/* 95 % intervals; pure mathematics. */
#ifndef VIEW_INTERVAL_H
#define VIEW_INTERVAL_H

struct view_share;

/* The share SUCCESSES / TRIALS with Wilson's score interval.  SUCCESSES may be a fraction (a
   weighted share times the records); it is taken between 0 and TRIALS.  No trials: share 0, and
   anything may be true, 0 to 1. */
struct view_share interval_wilson(double successes, double trials);

#endif
