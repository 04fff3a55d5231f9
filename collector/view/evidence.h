/* SPDX-License-Identifier: Apache-2.0 */
/* The effective number of samples of different weights; pure mathematics. */
#ifndef VIEW_EVIDENCE_H
#define VIEW_EVIDENCE_H

#include "common/sums.h"

/* Sums over samples. All-zero is empty. */
struct evidence {
  double weight, squares; /* of their weights, and of the squares of these */
};

/* Adds COUNT samples with a total of WEIGHT. COUNT 0 adds nothing: time measured by clocks is no
   evidence. */
void evidence_add(struct evidence *evidence, uint64_t count, wide_sum weight);

/* Adds MORE, which covers other samples. */
void evidence_join(struct evidence *evidence, const struct evidence *more);

/* Returns the equivalent number of samples of equal weight; with one weight, their count. */
double evidence_trials(const struct evidence *evidence);

#endif
