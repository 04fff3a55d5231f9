/* SPDX-License-Identifier: Apache-2.0 */
/* Wilson's score interval (E. B. Wilson, "Probable inference, the law of succession, and
   statistical inference", Journal of the American Statistical Association 22, 1927).

   Each of n trials falls into a function with the unknown probability p. k trials did, so the
   observed fraction is q = k/n. By the normal approximation q lies within z standard errors of the
   true p:

     (q - p)^2 <= z^2 p (1 - p) / n

   The error is taken at p, not at q, which keeps the interval accurate for small k and n. Equality
   is a quadratic in p,

     p^2 (1 + z^2/n) - p (2q + z^2/n) + q^2 = 0,

   and its two roots are the ends:

     centre = (q + z^2/2n) / (1 + z^2/n)
     spread = z sqrt(q (1-q)/n + z^2/4n^2) / (1 + z^2/n)

   At k = 0 the lower end is set to exactly 0, and at k = n the upper to exactly 1, instead of the
   formula's rounding error. z = 1.96 covers 95 %. Successive records of one thread are not
   independent, and boards differ. With groups, ratio.c computes the equivalent number of
   independent trials and the quantile. */
#include "interval.h"

#include "view.h"

#include <math.h>

static const double normal = 1.959963984540054; /* the normal distribution's 97.5 % point */

struct view_share interval_score(double share, double trials, double z) {
  if (!(share > 0)) share = 0;
  if (share > 1) share = 1;
  if (!(trials > 0)) return (struct view_share){share, 0, 1};
  double z2n = z * z / trials;
  double centre = (share + z2n / 2) / (1 + z2n);
  double spread = z * sqrt(share * (1 - share) / trials + z2n / (4 * trials)) / (1 + z2n);
  double low = share > 0 ? centre - spread : 0;
  double high = share < 1 ? centre + spread : 1;
  return (struct view_share){share, low > 0 ? low : 0, high < 1 ? high : 1};
}

struct view_share interval_wilson(double share, double trials) {
  return interval_score(share, trials, normal);
}

bool interval_is_too_wide(const struct view_share *share) {
  return share->high - share->low > share->share;
}
