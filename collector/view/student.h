/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t distribution; pure mathematics. */
#ifndef VIEW_STUDENT_H
#define VIEW_STUDENT_H

/* Returns what a t of DF degrees of freedom (1 or more, need not be whole; INFINITY: the normal
   distribution) exceeds in size with a chance of 5 %: 12.71 for 1, 1.96 for INFINITY. */
double student_quantile(double df);

/* Returns what a t of DF degrees of freedom exceeds in size with the chance P (0: INFINITY). */
double student_point(double p, double df);

/* Returns the chance of a t of DF degrees of freedom that is at least as large as T in size. */
double student_p(double t, double df);

#endif
