/* SPDX-License-Identifier: Apache-2.0 */
/* The filter count is parsed from the kernel's line and from no other text. */
#include "preload/birth_sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint32_t filters(const char *text) {
  return birth_sandbox_filters(text, strlen(text));
}

static void filters_are_counted_as_the_kernel_counts_them(void **state) {
  (void)state;
  assert_int_equal(filters("NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\nSpeculation\n"), 3);
  assert_int_equal(filters("Seccomp:\t0\nSeccomp_filters:\t0\n"), 0);
}

static void a_kernel_that_does_not_count_has_one(void **state) {
  (void)state;
  assert_int_equal(filters("NoNewPrivs:\t1\nSeccomp:\t2\nCpus_allowed:\t3\n"), 1);
  assert_int_equal(filters("NoNewPrivs:\t0\nSeccomp:\t0\nCpus_allowed:\t3\n"), 0);
  assert_int_equal(filters("Name:\tcat\n"), 0); /* a kernel without seccomp */
}

static void names_within_a_line_and_torn_lines_tell_nothing(void **state) {
  (void)state;
  assert_int_equal(filters("Name:\tSeccomp:\t2\nState:\tR\n"), 0);
  assert_int_equal(filters("Seccomp:\t2"), 0); /* the rest arrives with the next piece */
  assert_int_equal(filters("Seccomp:\t99999999999999\n"), 0);
  assert_int_equal(birth_sandbox_filters("", 0), 0);
}

static void this_program_is_free(void **state) {
  (void)state;
  uint32_t known = 0;
  while (known < 100 && birth_sandbox_is_strange(known)) known++;
  assert_true(known < 100);
  assert_false(birth_sandbox_is_strange(known));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(filters_are_counted_as_the_kernel_counts_them),
      cmocka_unit_test(a_kernel_that_does_not_count_has_one),
      cmocka_unit_test(names_within_a_line_and_torn_lines_tell_nothing),
      cmocka_unit_test(this_program_is_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
