/* SPDX-License-Identifier: Apache-2.0 */
/* Textbook generators: splitmix64 (S. Vigna), Box and Muller's normal, Marsaglia and Tsang's gamma.
   The binomial uses inversion, or the normal distribution if its variance is over a thousand and
   the difference is negligible. */
#include "random_fixture.h"

#include <math.h>

static const double near_normal = 1000;

static uint64_t next(struct random *random) {
  uint64_t x = random->state += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

double random_uniform(struct random *random) {
  return ((double)(next(random) >> 12) + 0.5) / 4503599627370496.0; /* 2^52 */
}

double random_normal(struct random *random) {
  double radius = sqrt(-2 * log(random_uniform(random)));
  return radius * cos(2 * M_PI * random_uniform(random));
}

static double gamma_of(struct random *random, double shape) {
  if (shape < 1) return gamma_of(random, shape + 1) * pow(random_uniform(random), 1 / shape);
  double d = shape - 1. / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x = random_normal(random), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    if (log(random_uniform(random)) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
  }
}

double random_beta(struct random *random, double mean, double deviation) {
  double size = mean * (1 - mean) / (deviation * deviation) - 1;
  if (!(deviation > 0)) return mean;
  if (size < 0.01) size = 0.01;
  double a = gamma_of(random, mean * size), b = gamma_of(random, (1 - mean) * size);
  return a + b > 0 ? a / (a + b) : 0;
}

static uint64_t by_inversion(struct random *random, uint64_t n, double p) {
  double ratio = p / (1 - p), term = exp((double)n * log1p(-p)), left = random_uniform(random);
  uint64_t k = 0;
  while (left > term && k < n) {
    left -= term;
    term *= ratio * (double)(n - k) / (double)(k + 1);
    k++;
  }
  return k;
}

uint64_t random_binomial(struct random *random, uint64_t n, double p) {
  double mean = (double)n * p, variance = mean * (1 - p);
  if (p > 0.5) return n - random_binomial(random, n, 1 - p);
  if (!(p > 0) || n == 0) return 0;
  if (mean < 600 || variance < near_normal) {
    if (mean < 600) return by_inversion(random, n, p);
    return random_binomial(random, n / 2, p) + random_binomial(random, n - n / 2, p);
  }
  double drawn = round(mean + sqrt(variance) * random_normal(random));
  return drawn < 0 ? 0 : drawn > (double)n ? n : (uint64_t)drawn;
}
