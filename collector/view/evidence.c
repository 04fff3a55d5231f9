/* SPDX-License-Identifier: Apache-2.0 */
/* Kish's effective number of samples (L. Kish, "Survey Sampling", Wiley 1965, 11.7; "Weighting for
   unequal P_i", Journal of Official Statistics 8, 1992).

   A share is sum(w_i x_i) / sum(w_i), with x_i 1 if sample i lies in the function. With one
   probability p for all x_i its variance is

     p (1 - p) sum(w_i^2) / sum(w_i)^2

   which is that of n samples of one weight for n = sum(w)^2 / sum(w^2). A rate that was lowered a
   thousandfold leaves a thousand samples of weight 1 and ten of weight 1000. They are worth twelve
   samples, because the ten have nearly all of the weight. Weights that differ by a fifth, like
   perf's varied periods, make n one percent less than the count.

   Samples arrive as sums, COUNT of them with WEIGHT together, and are assumed to be equal: each sum
   adds COUNT (WEIGHT / COUNT)^2. Otherwise that is too little, so only similar samples are summed
   (batch_is_alike). With weights w and 2 w it is too little by at most (1 + 2)^2 / (4 * 2) - 1 =
   1/8.

   One p is assumed for all samples: a share that changes together with the rate is not
   distinguished from chance. */
#include "evidence.h"

void evidence_add(struct evidence *evidence, uint64_t count, wide_sum weight) {
  double sum = (double)weight;
  if (count == 0) return;
  evidence->weight += sum;
  evidence->squares += sum * sum / (double)count;
}

void evidence_join(struct evidence *evidence, const struct evidence *more) {
  evidence->weight += more->weight;
  evidence->squares += more->squares;
}

double evidence_trials(const struct evidence *evidence) {
  if (!(evidence->squares > 0)) return 0;
  return evidence->weight * evidence->weight / evidence->squares;
}
