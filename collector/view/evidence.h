/* SPDX-License-Identifier: Apache-2.0 */
/* How much samples of unlike weights tell; pure mathematics. */
#ifndef VIEW_EVIDENCE_H
#define VIEW_EVIDENCE_H

#include "common/sums.h"

/* Sums over samples; all-zero is none. */
struct evidence {
  double weight, squares; /* of their weights, and of these squared */
};

/* Adds COUNT samples of WEIGHT together; none: time that clocks told, no evidence. */
void evidence_add(struct evidence *evidence, uint64_t count, wide_sum weight);

/* Adds MORE, other samples. */
void evidence_join(struct evidence *evidence, const struct evidence *more);

/* Returns how many samples of one weight would tell as much: with one weight, their count. */
double evidence_trials(const struct evidence *evidence);

#endif
