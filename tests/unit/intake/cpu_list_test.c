/* SPDX-License-Identifier: Apache-2.0 */
#include "intake/cpu_list.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct cpu_list list;

static void ranges_and_single_cpus_are_read_in_order(void **state) {
  (void)state;
  static const int expected[] = {0, 1, 2, 5, 8, 9};
  assert_int_equal(cpu_list_parse("0-2,5,8-9\n", &list), 0);
  assert_int_equal(list.count, 6);
  for (unsigned i = 0; i < 6; i++) assert_int_equal(list.cpus[i], expected[i]);
  assert_int_equal(cpu_list_parse("0", &list), 0);
  assert_int_equal(list.count, 1);
}

static void what_is_no_list_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"", "\n", "a", "1,", "-1", "3-1", "1-", "1 2", "1;2", "0x3"};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(cpu_list_parse(bad[i], &list), -EINVAL);
}

static void more_cpus_than_fit_are_refused(void **state) {
  (void)state;
  assert_int_equal(cpu_list_parse("0-4095", &list), 0);
  assert_int_equal(list.count, CPU_LIST_MAX);
  assert_int_equal(cpu_list_parse("0-4096", &list), -EOVERFLOW);
  assert_int_equal(cpu_list_parse("99999999999999999999", &list), -EOVERFLOW);
}

static void this_machine_has_a_cpu(void **state) {
  (void)state;
  assert_int_equal(cpu_list_online(&list), 0);
  assert_true(list.count > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_and_single_cpus_are_read_in_order),
      cmocka_unit_test(what_is_no_list_is_refused),
      cmocka_unit_test(more_cpus_than_fit_are_refused),
      cmocka_unit_test(this_machine_has_a_cpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
