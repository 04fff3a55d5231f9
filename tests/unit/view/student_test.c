/* SPDX-License-Identifier: Apache-2.0 */
/* Student's t against published tables. */
#include "view/student.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_near(double is, double wanted, double within) {
  if (!(fabs(is - wanted) <= within)) fail_msg("%.9g is not %.9g", is, wanted);
}

/* NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2. */
static void quantiles_are_those_of_the_tables(void **state) {
  static const double table[][2] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},
                                    {9, 2.262},  {19, 2.093}, {63, 1.998}, {100, 1.984}};
  (void)state;
  for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
    assert_near(student_quantile(table[i][0]), table[i][1], 0.0005);
  assert_near(student_quantile(INFINITY), 1.959964, 1e-6);
}

static void one_and_two_degrees_have_closed_forms(void **state) {
  (void)state;
  for (double t = 0.01; t < 1e4; t *= 3) {
    assert_near(student_p(t, 1), 1 - 2 * atan(t) / M_PI, 1e-10);
    assert_near(student_p(-t, 2), 1 - t / sqrt(2 + t * t), 1e-10);
  }
}

static void small_chances_keep_their_digits(void **state) {
  (void)state;
  assert_near(student_p(1e9, 1) / (2 / M_PI * 1e-9), 1, 1e-6);
  assert_near(student_p(40, 63) / 1.697427992e-46, 1, 1e-8); /* by Simpson's rule */
  assert_near(student_p(10, 20.5) / 2.47026653e-09, 1, 1e-8);
  assert_near(student_p(3, 4.2) / 0.0375324604, 1, 1e-8);
}

static void many_degrees_are_the_normal_distribution(void **state) {
  (void)state;
  for (double t = 0; t < 6; t += 0.25) {
    assert_near(student_p(t, 2e6), erfc(t / sqrt(2)), 1e-12);
    assert_near(student_p(t, 9e5), erfc(t / sqrt(2)), 1e-6);
  }
}

static void points_are_where_chances_are(void **state) {
  static const double chances[] = {0.9, 0.4, 0.05, 1e-3, 1e-7};
  static const double degrees[] = {1, 2.5, 11, 60, 1e7};
  (void)state;
  for (unsigned i = 0; i < 5; i++)
    for (unsigned j = 0; j < 5; j++)
      assert_near(student_p(student_point(chances[i], degrees[j]), degrees[j]) / chances[i], 1,
                  1e-7);
  assert_near(student_point(0.4, 20), 0.859964, 1e-5);
  assert_true(isinf(student_point(0, 5)));
  assert_near(student_point(1, 5), 0, 0);
}

static void what_is_no_number_proves_nothing(void **state) {
  (void)state;
  assert_near(student_p(NAN, 5), 1, 0);
  assert_near(student_p(0, 5), 1, 1e-12);
  assert_near(student_p(INFINITY, 5), 0, 0);
  assert_near(student_quantile(0.3), 12.706, 0.0005); /* fewer than 1: taken for 1 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_are_those_of_the_tables),
      cmocka_unit_test(one_and_two_degrees_have_closed_forms),
      cmocka_unit_test(small_chances_keep_their_digits),
      cmocka_unit_test(many_degrees_are_the_normal_distribution),
      cmocka_unit_test(points_are_where_chances_are),
      cmocka_unit_test(what_is_no_number_proves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
