/* SPDX-License-Identifier: Apache-2.0 */
/* A board's trusted time across restarts. The clock since boot is replaced
   (--wrap=clock_boottime_ns). */
#include "uplink/known_time.h"

#include "common/clock.h"
#include "common/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW_S INT64_C(1800000000)
#define NOW_NS ((uint64_t)NOW_S * NS_PER_SECOND)
enum { DAY = 86400 };

static char folder[] = "/tmp/fleetprof-time-XXXXXX";
static char path[64];
static uint64_t boot_ns = 5 * NS_PER_SECOND;

uint64_t __wrap_clock_boottime_ns(void);
uint64_t __wrap_clock_boottime_ns(void) {
  return boot_ns;
}

static int set_up(void **state) {
  (void)state;
  log_set_level(LOG_LEVEL_ERROR);
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/time", folder);
  return 0;
}

static int clear(void **state) {
  (void)state;
  unlink(path);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return rmdir(folder);
}

static void write_file(const char *text) {
  FILE *file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
}

static int64_t earliest_of_file(void) {
  struct known_time time;
  known_time_init(&time, path);
  return known_time_earliest_s(&time);
}

static void time_goes_on_from_what_was_heard(void **state) {
  (void)state;
  struct known_time time;
  known_time_init(&time, path);
  assert_int_equal(known_time_earliest_s(&time), 0);
  known_time_learn(&time, NOW_NS, INT64_MAX);
  assert_int_equal(known_time_earliest_s(&time), NOW_S);
  boot_ns += 100 * NS_PER_SECOND;
  assert_int_equal(known_time_earliest_s(&time), NOW_S + 100);
  known_time_learn(&time, NOW_NS, INT64_MAX); /* it does not go back */
  assert_int_equal(known_time_earliest_s(&time), NOW_S + 100);
}

static void the_next_run_begins_with_it(void **state) {
  (void)state;
  struct known_time time;
  known_time_init(&time, path);
  known_time_learn(&time, NOW_NS, INT64_MAX);
  boot_ns = 0; /* another boot */
  assert_int_equal(earliest_of_file(), NOW_S);
}

static void the_file_is_written_once_a_day(void **state) {
  (void)state;
  struct known_time time;
  known_time_init(&time, path);
  known_time_learn(&time, NOW_NS, INT64_MAX);
  known_time_learn(&time, NOW_NS + (DAY - 1) * NS_PER_SECOND, INT64_MAX);
  assert_int_equal(earliest_of_file(), NOW_S);
  known_time_learn(&time, NOW_NS + DAY * NS_PER_SECOND, INT64_MAX);
  assert_int_equal(earliest_of_file(), NOW_S + DAY);
}

static void no_collector_can_shut_itself_out(void **state) {
  (void)state;
  struct known_time time;
  known_time_init(&time, path);
  known_time_learn(&time, NOW_NS, NOW_S - 1); /* its certificate would have ended */
  assert_int_equal(known_time_earliest_s(&time), 0);
  assert_int_equal(access(path, F_OK), -1);
}

static void what_does_not_read_counts_as_nothing(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      "\n",
                                      "x\n",
                                      "-5\n",
                                      "1800000000",
                                      "18000000000000\n",
                                      "1800000000\n1\n",
                                      "1800000000 \n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_file(texts[i]);
    assert_int_equal(earliest_of_file(), 0);
  }
  write_file("1800000000\n");
  assert_int_equal(earliest_of_file(), NOW_S);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(time_goes_on_from_what_was_heard, clear),
      cmocka_unit_test_teardown(the_next_run_begins_with_it, clear),
      cmocka_unit_test_teardown(the_file_is_written_once_a_day, clear),
      cmocka_unit_test_teardown(no_collector_can_shut_itself_out, clear),
      cmocka_unit_test_teardown(what_does_not_read_counts_as_nothing, clear),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
