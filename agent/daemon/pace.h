/* SPDX-License-Identifier: Apache-2.0 */
/* Holds what is spent to a budget by saying how fast sampling may go: state in, decision out.

   A bucket fills at the budget's rate and may hold `burst`; spending empties it.  So over any span
   of time no more is spent than burst + rate * time and what one step may overdraw, which is paid
   back from half of the rate.  While the bucket is half full nothing is slowed down.  Where what
   does not depend on sampling takes all there is, sampling still gets a tenth: a budget is to make
   it cheap, not blind. */
#ifndef DAEMON_PACE_H
#define DAEMON_PACE_H

#include <stdbool.h>

struct pace {
  double rate, burst; /* units a second, units; rate 0: no budget */
  double level;       /* what may be spent now */
  double factor;      /* of the asked rates: what this budget allows */
  double fixed, cost; /* a second of the last step: what follows no factor, and what does */
};

struct pace_spent {
  double seconds, units; /* since the last step; units were spent in that time */
  double fixed;          /* of the units: what would have been spent at any factor */
  double factor;         /* at which it was spent: the least of all budgets' */
};

#define PACE_FACTOR_MIN 1e-5 /* 10 kHz down to 0.1 Hz */

/* A full bucket and no slowing down. */
struct pace pace_start(double rate, double burst);

/* What may be spent a second, as the bucket stands. */
double pace_allowance(const struct pace *pace);

/* Books SPENT and decides the factor.  Returns true when it has changed. */
bool pace_step(struct pace *pace, const struct pace_spent *spent);

/* What follows no factor is so much, now that samples get no more than their least, that not even
   that fits beside it; and nothing is left of earlier to pay for it. */
bool pace_is_taken(const struct pace *pace);

/* How full the bucket is, 0 to 1. */
double pace_fill(const struct pace *pace);

#endif
