/* SPDX-License-Identifier: Apache-2.0 */
/* Successive differences of samples whose order is known by stretches of time only;
   docs/statistics.md derives it.

   A sampler looks at even distances. The textbook variance for such a sample is that of neighbours
   (J. von Neumann et al., Annals of Mathematical Statistics 12, 1941; K. M. Wolter, "Introduction
   to Variance Estimation", 1985, ch. 7): of n samples x_i, 0 or 1,

     v = n / (n - 1) sum (x_i - x_(i-1))^2 / 2

   is the variance of sum x_i. It is n p (1 - p) on average if samples are independent, and less if
   neighbours are alike: a phase counts only at its two ends.

   A profile gives the stretch of time of each sample, but not the order within the stretch. Over
   all orders the mean of the sum is, with n_h samples in stretch h, p_h of them in the function,

     sum over h of  n_h p_h (1 - p_h) + (p_h + p_(h-1) - 2 p_h p_(h-1)) / 2

   The second term is the pair at the border to the previous stretch. It replaces the correction n_h
   / (n_h - 1). Stretches are nevertheless joined to strata of STRATA_TRIALS_MIN samples. With fewer
   samples, of unequal weights, the sum varies much, and its small values make intervals too narrow.

   Weights: the samples of stretch h have the squared weights Q_h and the weight S_h, so each counts
   w_h = Q_h / S_h. n_h becomes Q_h, and a border (w_h^2 + w_(h-1)^2) / 2.

   Trials without a sample: of N trials the part s made one. A stretch's fraction p_h is s x_h /
   S_h. The times of the others do not matter: they are spread evenly, as if the program were in the
   kernel at random, which gives the larger variance. */
#include "strata.h"

#include "evidence.h"

/* Sorts the stretches with samples by time. Returns their number. */
static unsigned sort(struct strata *strata, const struct groups *groups) {
  unsigned count = 0;
  for (unsigned i = 0; i < groups->count; i++) {
    if (!(groups->group[i].evidence.squares > 0)) continue;
    unsigned at = count++;
    for (; at > 0 && groups->group[strata->group[at - 1]].id > groups->group[i].id; at--)
      strata->group[at] = strata->group[at - 1];
    strata->group[at] = i;
  }
  return count;
}

/* Joins neighbours to strata with enough samples. The remainder is joined to the last stratum. */
static void join(struct strata *strata, const struct groups *groups, struct evidence *ret) {
  unsigned count = sort(strata, groups);
  bool is_full = true;
  for (unsigned i = 0; i < count; i++) {
    if (is_full) strata->first[strata->count++] = i;
    struct evidence *own = &ret[strata->count - 1];
    evidence_join(own, &groups->group[strata->group[i]].evidence);
    is_full = evidence_trials(own) >= STRATA_TRIALS_MIN;
  }
  if (!is_full && strata->count > 1) {
    strata->count--;
    evidence_join(&ret[strata->count - 1], &ret[strata->count]);
  }
  strata->first[strata->count] = count;
}

void strata_init(struct strata *strata, const struct groups *groups, double shown) {
  struct evidence all = {0, 0}, own[GROUPS_MAX] = {{0, 0}};
  double before = 0; /* squared weight of a sample of the previous stratum */
  *strata = (struct strata){0};
  if (groups->kind != GROUPS_TIMES || !(shown > 0)) return;
  join(strata, groups, own);
  for (unsigned i = 0; i < strata->count; i++) evidence_join(&all, &own[i]);
  double trials = evidence_trials(&all) / shown;
  double part = trials > 1 ? trials / (trials - 1) * shown / (all.weight * all.weight) : 0;
  for (unsigned i = 0; i < strata->count; i++) {
    double squared = own[i].squares / own[i].weight * (own[i].squares / own[i].weight);
    strata->scale[i] = shown / own[i].weight;
    strata->within[i] = part * own[i].squares;
    if (i > 0) strata->between[i] = part * shown * (squared + before) / 4;
    before = squared;
  }
}

double strata_fraction(const struct strata *strata, unsigned at, uint64_t weight) {
  double fraction = strata->scale[at] * (double)weight;
  return fraction < 1 ? fraction : 1;
}

double strata_variance(const struct strata *strata, unsigned at, double before, double now) {
  return strata->within[at] * now * (1 - now) +
         strata->between[at] * (before + now - 2 * before * now);
}
