/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t distribution; pure mathematics. */
#ifndef VIEW_STUDENT_H
#define VIEW_STUDENT_H

/* Returns the absolute value that a t of DF degrees of freedom (1 or more, need not be an integer;
   INFINITY: the normal distribution) exceeds with a probability of 5 %: 12.71 for 1, 1.96 for
   INFINITY. */
double student_quantile(double df);

/* Returns the absolute value that a t of DF degrees of freedom exceeds with probability P (0:
   INFINITY). */
double student_point(double p, double df);

/* Returns the probability that a t of DF degrees of freedom is at least as large as T in absolute
   value. */
double student_p(double t, double df);

#endif
