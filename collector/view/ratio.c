/* SPDX-License-Identifier: Apache-2.0 */
/* The ratio estimator with groups as the sampling unit; docs/statistics.md derives it.

   In group i the part has the weight x_i and the whole W_i, p_i = x_i / W_i. The error of the share
   of all,

     R = sum x_i / sum W_i = sum w_i p_i,   w_i = W_i / sum W,

   is, to first order, sum w_i (p_i - p). Its variance is that of the groups' own shares about the
   true share, whatever the cause: chance, work, hardware, phases of a program. The distances from R
   are known, those from p are not, and a heavy group pulls R towards itself. If all groups had the
   same variance, E (p_i - R)^2 would be sigma^2 c_i with c_i = 1 - 2 w_i + sum w^2. So

     v = sum influence_i (p_i - R)^2,   influence_i = w_i^2 / c_i

   has the right mean (for equal loads it is s^2 / m). v is a sum of few squares, which t quantiles
   take into account. It has m - 1 degrees of freedom for equal loads. In general they are the
   effective number of groups 1 / sum w^2 (Kish, as in evidence.c), less one; a few groups may have
   most of the weight. Satterthwaite's degrees of freedom are better known but too few. For 5 boards
   with loads from 1 to 20 their intervals covered the true value 98.5 % of the time and were half
   as wide again; these cover it 95.9 %.

   v gives the equivalent number of independent samples, R (1 - R) / v. With this number and the t
   quantile Wilson's interval stays within 0 and 1 (interval.c). It is never narrower than that of
   the samples alone: two boards that agree by accident prove nothing.

   Of one selection the stretches of time are strata (strata.c). With their variance v of a fraction
   q, Wilson's interval uses q (1 - q) / v trials, if these are more than the samples.

   Of a whole T the time U has no samples and could have none. The rest, T - U, was sampled, with
   one trial for each period of it. Trials in the kernel of a user-only event make no sample, but
   they are known to lie in no function. So n samples of weight S stand for N = n (T - U) / S
   trials. A function with the weight x has the fraction q = x / (T - U) of the sampled time. Let
   l..h be the interval of q from N trials. The function's share is at least l (T - U) / T, reached
   if U contains none of its time. It is at most h (T - U) / T + U / T, reached if all of U is its
   time. For boards like these U / T is uncertain too, and the upper end of its own interval is
   added. */
#include "ratio.h"

#include "evidence.h"
#include "interval.h"
#include "student.h"
#include "view.h"

#include <math.h>
#include <string.h>

/* A group with all of the weight has no distance from the share. */
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

/* The effective number of groups of equal load, less the part used by estimating R. */
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
  ratio->sampled = 1;
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

void ratio_init_whole(struct ratio *ratio, const struct ratio_whole *whole) {
  const struct groups *groups = whole->groups;
  uint64_t wholes[GROUPS_MAX];
  wide_sum unsampled = whole->unsampled < whole->weight ? whole->unsampled : whole->weight;
  double trials = evidence_trials(whole->evidence), shown = whole->evidence->weight;
  double sampled = (double)(whole->weight - unsampled);
  groups_totals(groups, wholes);
  if (sampled > shown && shown > 0) trials *= sampled / shown;
  ratio_init(ratio, ratio_kind_of_shares(groups), groups->count, wholes, trials);
  if (whole->weight > 0) ratio->sampled = sampled / (double)whole->weight;
  strata_init(&ratio->strata, groups, sampled > shown ? shown / sampled : 1);
}

/* Returns the number of trials equivalent to those of SHARE, with the strata's VARIANCE. */
static double trials_of(const struct ratio *ratio, double share, double variance) {
  double part = share / ratio->sampled;
  if (ratio->is_grouped || !(ratio->trials > 0) || !(variance > 0)) return ratio->trials;
  return fmax(part * (1 - part) / variance, ratio->trials);
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

const char *ratio_scope(const struct view_basis *basis) {
  return strncmp(basis->unit, "board", strlen("board")) == 0 ? "fleet" : "these";
}

static struct view_share of_samples(const struct ratio *ratio, double share, double variance) {
  double sampled = ratio->sampled;
  if (!(sampled > 0)) return interval_wilson(share, 0);
  struct view_share part = interval_wilson(share / sampled, trials_of(ratio, share, variance));
  return (struct view_share){fmin(fmax(share, 0), 1), part.low * sampled, part.high * sampled};
}

static bool is_of_groups(const struct ratio *ratio, double variance) {
  return ratio->is_grouped && variance > 0;
}

static struct view_share of_groups(const struct ratio *ratio, double share, double variance) {
  return interval_score(share, share * (1 - share) / variance, ratio->quantile);
}

struct view_share ratio_interval(const struct ratio *ratio, double share, double variance) {
  struct view_share samples = of_samples(ratio, share, variance);
  if (!is_of_groups(ratio, variance)) return samples;
  struct view_share groups = of_groups(ratio, samples.share, variance);
  return (struct view_share){samples.share, fmin(samples.low, groups.low),
                             fmax(samples.high, groups.high)};
}

struct view_share ratio_told(const struct ratio *ratio, double share, double variance) {
  if (!is_of_groups(ratio, variance)) return (struct view_share){share, share, share};
  return of_groups(ratio, share, variance);
}

enum ratio_lack ratio_lack(const struct ratio *ratio, double share, double variance) {
  struct view_share samples = of_samples(ratio, share, variance);
  struct view_share all = ratio_interval(ratio, share, variance);
  if (interval_is_too_wide(&samples)) return RATIO_FEW_SAMPLES;
  return interval_is_too_wide(&all) ? RATIO_FEW_BOARDS : RATIO_ENOUGH;
}

double ratio_reach(const struct ratio *ratio, double share, double variance) {
  return is_of_groups(ratio, variance) ? of_groups(ratio, share, variance).high : share;
}

void ratio_raise(struct view_share *share, double hidden) {
  share->high = fmin(share->high + hidden, 1);
}

static double strata_sum(const struct strata *strata, const uint64_t parts[GROUPS_MAX]) {
  double variance = 0, before = 0;
  for (unsigned i = 0; i < strata->count; i++) {
    uint64_t part = 0;
    for (unsigned j = strata->first[i]; j < strata->first[i + 1]; j++)
      part += parts[strata->group[j]];
    double now = strata_fraction(strata, i, part);
    variance += strata_variance(strata, i, before, now);
    before = now;
  }
  return variance;
}

double ratio_variance(const struct ratio *ratio, const uint64_t parts[GROUPS_MAX]) {
  double part = 0, variance = 0;
  if (!ratio->is_grouped) return strata_sum(&ratio->strata, parts);
  for (unsigned i = 0; i < ratio->count; i++) part += (double)parts[i];
  double share = ratio->whole > 0 ? part / ratio->whole : 0;
  for (unsigned i = 0; i < ratio->count; i++) {
    if (!(ratio->wholes[i] > 0)) continue;
    double distance = (double)parts[i] / ratio->wholes[i] - share;
    variance += ratio->influence[i] * distance * distance;
  }
  return variance;
}
