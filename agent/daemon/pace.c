/* SPDX-License-Identifier: Apache-2.0 */
/* The allowance follows the bucket:

      allowance                        level >= burst/2   free: no slowing down
       2 rate |        /              level  = burst/4   the rate itself: where it settles
        rate |    /                  level <= burst/8   half the rate: a debt is paid back
       rate/2 |---/____________ level

   Part of the cost is independent of the factor.  The rest is for samples, which may use the
   allowance minus the fixed part, or a tenth of the allowance.  Spending more slows sampling at
   once, in proportion.  Twice the samples cost at most twice as much (and less than twice the
   bytes), so a proportional step never goes too far.  Speeding up is proportional too, by a half
   per step at most, and only if a fifth is left over; between the two nothing changes.  The bucket
   makes the cost settle at the rate itself and not a fifth below: while less is spent, the level
   and the allowance rise. */
#include "pace.h"

#define FREE_FILL 0.5
#define SETTLED_FILL 0.25
#define LEAST_FILL 0.125
#define LEAST_PART 0.1   /* of the allowance, for the cost that depends on the factor */
#define LOW_COSTS 2      /* multiple of that part that the factor permits at least */
#define STEP_TO 0.95     /* of the room for it */
#define RAISE_BELOW 0.80 /* of that room */
#define RAISE_MOST 1.5

struct pace pace_start(double rate, double burst) {
  return (struct pace){.rate = rate, .burst = burst, .level = burst, .factor = 1};
}

double pace_allowance(const struct pace *pace) {
  double fill = pace_fill(pace);
  if (fill > FREE_FILL) fill = FREE_FILL;
  if (fill < LEAST_FILL) fill = LEAST_FILL;
  return pace->rate * fill / SETTLED_FILL;
}

double pace_fill(const struct pace *pace) {
  if (pace->burst <= 0 || pace->level <= 0) return 0;
  return pace->level / pace->burst;
}

/* Draining counts as fixed, and is large at a high rate: so this is judged at the low rate. */
bool pace_is_taken(const struct pace *pace) {
  if (pace->rate <= 0 || pace_fill(pace) >= FREE_FILL) return false;
  if (pace->cost > pace->rate * LEAST_PART * LOW_COSTS) return false;
  double least = pace->rate * LEAST_FILL / SETTLED_FILL * LEAST_PART;
  return pace->fixed + least > pace->rate;
}

static void book(struct pace *pace, const struct pace_spent *spent) {
  pace->level += pace->rate * spent->seconds - spent->units;
  if (pace->level > pace->burst) pace->level = pace->burst;
  /* A debt is limited: an unavoidable cost (of running at all) must not add up to a debt that later
     savings could never pay. */
  if (pace->level < -pace->burst) pace->level = -pace->burst;
}

static double within(double factor) {
  if (factor > 1) return 1;
  return factor < PACE_FACTOR_MIN ? PACE_FACTOR_MIN : factor;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

bool pace_step(struct pace *pace, const struct pace_spent *spent) {
  if (pace->rate <= 0 || spent->seconds <= 0) return false;
  double before = pace->factor;
  book(pace, spent);
  pace->fixed = spent->fixed / spent->seconds;
  double cost = pace->cost = (spent->units - spent->fixed) / spent->seconds;
  double allowance = pace_allowance(pace);
  double room = larger(allowance - pace->fixed, allowance * LEAST_PART);
  double step = cost > 0 ? STEP_TO * room / cost : RAISE_MOST;
  if (cost > room && pace_fill(pace) < FREE_FILL) {
    pace->factor = within(spent->factor * step);
  } else if (cost < RAISE_BELOW * room) {
    /* Another budget may hold the factor far below this budget's: that stays unchanged. */
    pace->factor =
        larger(pace->factor, within(spent->factor * (step < RAISE_MOST ? step : RAISE_MOST)));
  }
  return pace->factor < before || pace->factor > before;
}
