/* SPDX-License-Identifier: Apache-2.0 */
/* The distribution of a mean of m draws over its own estimated error (Student, "The probable error
   of a mean", Biometrika 6, 1908). The two-sided probability is an incomplete beta function,

     p = I_x(df/2, 1/2),   x = df / (df + t^2),

   which is a continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22),
   evaluated by Lentz's method. Where that converges slowly, its reflection is used, I_x(a, b) = 1 -
   I_(1-x)(b, a). Degrees of freedom need not be integers: they are estimates themselves. */
#include "student.h"

#include <math.h>

static const double level = 0.05;
static const double normal_quantile = 1.959963984540054;
static const double normal_from = 1e6; /* degrees of freedom; the two differ in the seventh digit */

enum { STEPS_MAX = 400 };

/* Returns term AT (1, 2, ...) of the fraction. */
static double term(double a, double b, double x, int at) {
  double m = at / 2;
  if (at % 2 == 0) return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
  return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
}

/* 1 / (1 + d1 / (1 + d2 / ...)) */
static double fraction(double a, double b, double x) {
  static const double tiny = 1e-300, enough = 1e-14;
  double value = 1, c = 1, d = 0;
  for (int i = 1; i < STEPS_MAX; i++) {
    double step = term(a, b, x, i);
    d = 1 + step * d;
    c = 1 + step / c;
    if (fabs(d) < tiny) d = tiny;
    if (fabs(c) < tiny) c = tiny;
    d = 1 / d;
    value *= c * d;
    if (fabs(c * d - 1) < enough) break;
  }
  return 1 / value;
}

/* Returns I_x(a, b). Y is 1 - x, passed separately because the subtraction would lose digits of a
   small value. */
static double beta(double a, double b, double x, double y) {
  if (!(x > 0)) return 0;
  if (!(y > 0)) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(b, a, y, x);
  double front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y);
  return exp(front) * fraction(a, b, x) / a;
}

double student_p(double t, double df) {
  t = fabs(t);
  if (isnan(t)) return 1;
  if (df < 1) df = 1;
  if (!(df < normal_from)) return erfc(t / sqrt(2));
  if (isinf(t)) return 0;
  double square = t * t;
  return beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

static double density(double t, double df) {
  if (!(df < normal_from)) return exp(-t * t / 2) / sqrt(2 * M_PI);
  double height = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * M_PI);
  return height * pow(1 + t * t / df, -(df + 1) / 2);
}

/* Newton's steps from T, below the root of a convex curve, never overshoot it. */
static double point_from(double t, double p, double df) {
  static const double near_enough = 1e-12;
  for (int i = 0; i < STEPS_MAX; i++) {
    double step = (student_p(t, df) - p) / (2 * density(t, df));
    t += step;
    if (!(fabs(step) >= near_enough * t)) break;
  }
  return t;
}

/* The normal distribution's point is below that of any t, so it is a start for Newton's steps. */
double student_point(double p, double df) {
  if (!(p > 0)) return INFINITY;
  if (p >= 1) return 0;
  double normal = p == level ? normal_quantile : point_from(0, p, INFINITY);
  return df < normal_from ? point_from(normal, p, fmax(df, 1)) : normal;
}

double student_quantile(double df) {
  return student_point(level, df);
}
