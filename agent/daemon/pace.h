/* SPDX-License-Identifier: Apache-2.0 */
/* A rate controller with a token bucket: state in, decision out.  It holds the cost to a budget by
   the factor that it sets for the sampling rates.

   The bucket fills at the budget's rate up to `burst`, and spending empties it.  So over any time
   at most burst + rate * time is spent, plus the overdraft of one step.  Half of the rate pays the
   overdraft back.  While the bucket is at least half full, sampling is not slowed down.  If the
   cost that is independent of sampling uses up the budget, sampling still gets a tenth: a budget
   should make sampling cheap, not stop it. */
#ifndef DAEMON_PACE_H
#define DAEMON_PACE_H

#include <stdbool.h>

struct pace {
  double rate, burst; /* units per second, units; rate 0: no budget */
  double level;       /* units available now */
  double factor;      /* applied to the requested rates: the part that this budget permits */
  double fixed, cost; /* per second of the last step: the cost independent of the factor, and the
                         cost dependent on it */
};

struct pace_spent {
  double seconds, units; /* since the last step; units were spent in that time */
  double fixed;          /* the part of the units that is independent of the factor */
  double factor;         /* in effect during that time: the minimum of all budgets */
};

#define PACE_FACTOR_MIN 1e-5 /* 10 kHz down to 0.1 Hz */

/* Returns a full bucket with factor 1. */
struct pace pace_start(double rate, double burst);

/* Units that may be spent per second at the current level. */
double pace_allowance(const struct pace *pace);

/* Accounts for SPENT and sets the factor.  Returns true if it has changed. */
bool pace_step(struct pace *pace, const struct pace_spent *spent);

/* Whether the fixed cost exceeds the budget although samples get only their minimum, and no savings
   are left in the bucket. */
bool pace_is_taken(const struct pace *pace);

/* The fill level of the bucket, 0 to 1. */
double pace_fill(const struct pace *pace);

#endif
