/* SPDX-License-Identifier: Apache-2.0 */
/* The allowance follows the bucket:

     allowance                        level >= burst/2   free: no slowing down
       2 rate |        /              level  = burst/4   the rate itself: where it settles
         rate |    /                  level <= 0         nothing
            0 |/____________ level

   Spending more than the allowance slows sampling at once, in proportion: cost grows with the rate,
   or slower than it (a daemon costs something even when it takes no samples, and twice the samples
   are not twice the bytes), so a step in proportion never goes too far.  Going faster again is
   done by a fifth a step, and only when a fifth of the allowance is left over; between the two
   nothing changes.  The bucket is what makes it settle on the rate itself and not a fifth below:
   while less is spent it fills, and the allowance with it. */
#include "pace.h"

#define FREE_FILL 0.5
#define SETTLED_FILL 0.25
#define LOWER_TO 0.95    /* of the allowance */
#define RAISE_BELOW 0.80 /* of the allowance */
#define RAISE_STEP 1.2

struct pace pace_start(double rate, double burst) {
  return (struct pace){.rate = rate, .burst = burst, .level = burst, .factor = 1};
}

double pace_allowance(const struct pace *pace) {
  double fill = pace_fill(pace);
  if (fill > FREE_FILL) fill = FREE_FILL;
  return pace->rate * fill / SETTLED_FILL;
}

double pace_fill(const struct pace *pace) {
  if (pace->burst <= 0 || pace->level <= 0) return 0;
  return pace->level / pace->burst;
}

static void book(struct pace *pace, const struct pace_spent *spent) {
  pace->level += pace->rate * spent->seconds - spent->units;
  if (pace->level > pace->burst) pace->level = pace->burst;
  /* A debt is paid back, but not for ever: what cannot be avoided (the cost of being there) must
     not add up to one that no later frugality could settle. */
  if (pace->level < -pace->burst) pace->level = -pace->burst;
}

static double within(double factor) {
  if (factor > 1) return 1;
  return factor < PACE_FACTOR_MIN ? PACE_FACTOR_MIN : factor;
}

bool pace_step(struct pace *pace, const struct pace_spent *spent) {
  if (pace->rate <= 0 || spent->seconds <= 0) return false;
  double before = pace->factor, cost = spent->units / spent->seconds;
  book(pace, spent);
  double allowance = pace_allowance(pace);
  bool is_free = pace_fill(pace) >= FREE_FILL;
  if (cost > allowance && !is_free) {
    pace->factor = within(spent->factor * LOWER_TO * allowance / cost);
  } else if (cost < RAISE_BELOW * allowance) {
    /* By another budget it may be held far below what this one allows: that stays as it is. */
    double raised = within(spent->factor * RAISE_STEP);
    if (raised > pace->factor) pace->factor = raised;
  }
  return pace->factor < before || pace->factor > before;
}
