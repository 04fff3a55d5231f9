/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NOW (1700000000 * NS_PER_SECOND)

static void expect_time(const char *text, uint64_t ns) {
  uint64_t got = 1;
  if (clock_parse_time(text, NOW, &got) != 0) fail_msg("%s is refused", text);
  if (got != ns) fail_msg("%s is %llu", text, (unsigned long long)got);
}

static void times_of_every_form_are_read(void **state) {
  (void)state;
  expect_time("now", NOW);
  expect_time("-1h", NOW - 3600 * NS_PER_SECOND);
  expect_time("-90s", NOW - 90 * NS_PER_SECOND);
  expect_time("now-2d", NOW - 2 * 86400 * NS_PER_SECOND);
  expect_time("now+1m", NOW + 60 * NS_PER_SECOND);
  expect_time("-0", NOW);
  expect_time("1700000000", NOW);
  expect_time("1700000000.25", NOW + 250 * NS_PER_MS);
  expect_time("0", 0);
  expect_time("1970-01-01T00:00:00Z", 0);
  expect_time("2023-11-14T22:13:20Z", NOW);
  expect_time("2023-11-15T00:13:20+02:00", NOW);
  expect_time("2023-11-14t21:43:20.5-00:30", NOW + 500 * NS_PER_MS);
  expect_time("2023-11-14 22:13:20.123456789123z", NOW + 123456789);
  expect_time("2000-02-29T00:00:00Z", 951782400 * NS_PER_SECOND);
  expect_time("2016-12-31T23:59:60Z", 1483228800 * NS_PER_SECOND);
}

static void a_distance_past_either_end_of_time_is_that_end(void **state) {
  (void)state;
  expect_time("-99999d", 0);
  expect_time("now+99999d", NOW + UINT64_C(99999) * 86400 * NS_PER_SECOND);
  uint64_t got = 0;
  assert_int_equal(clock_parse_time("+1h", UINT64_MAX - 5, &got), 0);
  assert_true(got == UINT64_MAX);
}

static void what_is_no_time_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      " ",
      "-",
      "-1",
      "1h",
      "-h",
      "--1h",
      "now ",
      "nowhere",
      "now1h",
      "12x",
      "1.",
      "1.5.5",
      "2023-11-14",
      "2023-11-14T22:13:20",
      "2023-13-01T00:00:00Z",
      "2023-00-01T00:00:00Z",
      "2023-02-29T00:00:00Z",
      "2100-02-29T00:00:00Z",
      "2023-01-01T24:00:00Z",
      "2023-01-01T00:60:00Z",
      "2023-01-01T00:00:61Z",
      "2023-01-01T00:00:00ZZ",
      "2023-01-01T00:00:00+25:00",
      "2023-01-01T00:00:00+0100",
      "1969-12-31T23:59:59Z",
      "9999-12-31T23:59:59Z",
      "99999999999999999999999",
      "18446744074",
      "-99999999999999999999d",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint64_t got = 12345;
    if (clock_parse_time(bad[i], NOW, &got) != -EINVAL) fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(got, 12345);
  }
}

static void durations_have_units(void **state) {
  (void)state;
  uint64_t ns = 0;
  assert_int_equal(clock_parse_duration("250ms", &ns), 0);
  assert_int_equal(ns, 250 * NS_PER_MS);
  assert_int_equal(clock_parse_duration("1.5h", &ns), 0);
  assert_int_equal(ns, 5400 * NS_PER_SECOND);
  assert_int_equal(clock_parse_duration("2w", &ns), 0);
  assert_int_equal(ns, 14 * 86400 * NS_PER_SECOND);
  assert_int_equal(clock_parse_duration("0", &ns), 0);
  assert_int_equal(ns, 0);
  assert_int_equal(clock_parse_duration("10", &ns), -EINVAL);
  assert_int_equal(clock_parse_duration("10 s", &ns), -EINVAL);
  assert_int_equal(clock_parse_duration("999999999999d", &ns), -EOVERFLOW);
}

static void printed_times_read_back(void **state) {
  (void)state;
  char text[32];
  clock_print_time(NOW + 7 * NS_PER_MS, text);
  assert_string_equal(text, "2023-11-14T22:13:20.007Z");
  clock_print_time(0, text);
  assert_string_equal(text, "1970-01-01T00:00:00.000Z");
  clock_print_time(UINT64_MAX, text);
  assert_string_equal(text, "2554-07-21T23:34:33.709Z");
  for (uint64_t day = 0; day < 200000; day += 17) {
    uint64_t ns = day * 86399 * NS_PER_SECOND, got = 0;
    clock_print_time(ns, text);
    if (clock_parse_time(text, 0, &got) != 0 || got != ns) fail_msg("%s does not read back", text);
  }
}

static void clocks_run_forward_and_the_boot_id_stays(void **state) {
  (void)state;
  uint8_t first[16], second[16], zero[16] = {0};
  clock_boot_id(first);
  clock_boot_id(second);
  assert_memory_equal(first, second, sizeof first);
  assert_memory_not_equal(first, zero, sizeof first);
  uint64_t boot = clock_boottime_ns(), monotonic = clock_monotonic_ns();
  assert_true(clock_boottime_ns() >= boot);
  assert_true(clock_monotonic_ns() >= monotonic);
  assert_true(clock_walltime_ns() > NOW);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_of_every_form_are_read),
      cmocka_unit_test(a_distance_past_either_end_of_time_is_that_end),
      cmocka_unit_test(what_is_no_time_is_refused),
      cmocka_unit_test(durations_have_units),
      cmocka_unit_test(printed_times_read_back),
      cmocka_unit_test(clocks_run_forward_and_the_boot_id_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
