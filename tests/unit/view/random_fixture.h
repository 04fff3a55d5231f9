/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same in every run: the generator has no other state. */
#ifndef TESTS_VIEW_RANDOM_FIXTURE_H
#define TESTS_VIEW_RANDOM_FIXTURE_H

#include <stdint.h>

struct random {
  uint64_t state;
};

/* Above 0 and below 1. */
double random_uniform(struct random *random);
double random_normal(struct random *random);

/* Between 0 and 1 with this mean and standard deviation, which is reduced if no such distribution
   exists. */
double random_beta(struct random *random, double mean, double deviation);

/* How many of N trials of chance P hit. */
uint64_t random_binomial(struct random *random, uint64_t n, double p);

#endif
