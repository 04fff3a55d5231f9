/* SPDX-License-Identifier: Apache-2.0 */
/* The ratio estimator with groups as the sampling unit; docs/statistics.md derives it.

   Of group i the part weighs x_i and the whole W_i, p_i = x_i / W_i.  The share of all,

     R = sum x_i / sum W_i = sum w_i p_i,   w_i = W_i / sum W,

   errs, to first order, by sum w_i (p_i - p): its variance is that of the groups' own shares about
   the true one, whatever makes them differ: chance, work, hardware, phases of a program.  The
   distances from R are known, those from p are not, and a heavy group pulls R towards itself: were
   all groups to differ alike, E (p_i - R)^2 would be sigma^2 c_i with c_i = 1 - 2 w_i + sum w^2. So

     v = sum influence_i (p_i - R)^2,   influence_i = w_i^2 / c_i

   has the right mean (for equal loads it is s^2 / m).  v is a sum of few squares, and t quantiles
   account for that.  Its degrees of freedom are m - 1 for equal loads; where a few groups have most
   of the weight they are those of as many groups as tell that much, 1 / sum w^2 (Kish, as in
   evidence.c), less one.  Satterthwaite's have the better name and are too few: of 5 boards with
   loads from 1 to 20 their intervals covered the truth 98.5 % of the time and were half as wide
   again, these 95.9 %.

   From v follows how many independent samples would tell as much, R (1 - R) / v, and with these and
   the t quantile Wilson's interval stays within 0 and 1 (interval.c).  It is not let be narrower
   than that of the samples alone: two boards that agree by accident prove nothing. */
#include "ratio.h"

#include "interval.h"
#include "student.h"
#include "view.h"

#include <math.h>
#include <string.h>

/* A group with all of the weight leaves no distance to see. */
static const double least_correction = 1e-6;

static void set_influences(struct ratio *ratio) {
  for (unsigned i = 0; i < ratio->count; i++) {
    double w = ratio->wholes[i] / ratio->whole;
    ratio->squares += w * w;
  }
  for (unsigned i = 0; i < ratio->count; i++) {
    double w = ratio->wholes[i] / ratio->whole;
    ratio->influence[i] = w * w / fmax(1 - 2 * w + ratio->squares, least_correction);
  }
}

/* How many groups of one load they are, less what R has taken of them. */
double ratio_df(const struct ratio *ratio, uint64_t mask) {
  double sum = 0, squares = 0;
  for (unsigned i = 0; i < ratio->count; i++) {
    if ((mask >> i & 1) == 0) continue;
    double w = ratio->wholes[i] / ratio->whole;
    sum += w, squares += w * w;
  }
  return squares > 0 ? fmax(sum * sum / squares - sum, 1) : 1;
}

void ratio_init(struct ratio *ratio, enum groups_kind kind, unsigned count,
                const uint64_t wholes[GROUPS_MAX], double trials) {
  unsigned present = 0;
  memset(ratio, 0, sizeof *ratio);
  ratio->trials = trials;
  ratio->kind = kind;
  ratio->count = count;
  for (unsigned i = 0; i < count; i++) {
    ratio->wholes[i] = (double)wholes[i];
    ratio->whole += ratio->wholes[i];
    present += wholes[i] > 0;
  }
  if (kind == GROUPS_NONE || present < (kind == GROUPS_TIMES ? GROUPS_TIMES_MIN : 2)) return;
  ratio->is_grouped = true;
  set_influences(ratio);
  ratio->df = ratio_df(ratio, UINT64_MAX);
  ratio->quantile = student_quantile(ratio->df);
}

static const char *unit_of(const struct ratio *ratio) {
  if (!ratio->is_grouped) return "samples";
  if (ratio->kind == GROUPS_TIMES) return "stretches of time";
  return ratio->kind == GROUPS_BOARDS ? "boards" : "board groups";
}

struct view_basis ratio_basis(const struct ratio *ratio) {
  struct view_basis basis = {.unit = unit_of(ratio)};
  for (unsigned i = 0; i < ratio->count && ratio->is_grouped; i++)
    basis.units += ratio->wholes[i] > 0;
  return basis;
}

struct view_share ratio_interval(const struct ratio *ratio, double share, double variance) {
  struct view_share samples = interval_wilson(share, ratio->trials);
  if (!ratio->is_grouped || !(variance > 0)) return samples;
  double trials = samples.share * (1 - samples.share) / variance;
  struct view_share groups = interval_score(samples.share, trials, ratio->quantile);
  return (struct view_share){samples.share, fmin(samples.low, groups.low),
                             fmax(samples.high, groups.high)};
}

struct view_share ratio_share(const struct ratio *ratio, const uint64_t parts[GROUPS_MAX]) {
  double part = 0, variance = 0;
  for (unsigned i = 0; i < ratio->count; i++) part += (double)parts[i];
  double share = ratio->whole > 0 ? part / ratio->whole : 0;
  for (unsigned i = 0; i < ratio->count; i++) {
    if (!(ratio->wholes[i] > 0)) continue;
    double distance = (double)parts[i] / ratio->wholes[i] - share;
    variance += ratio->influence[i] * distance * distance;
  }
  return ratio_interval(ratio, share, variance);
}
