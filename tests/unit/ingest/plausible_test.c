/* SPDX-License-Identifier: Apache-2.0 */
/* Plausible and implausible numbers of a batch. */
#include "ingest/plausible.h"

#include "common/clock.h"
#include "proto/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND NS_PER_SECOND

static const struct batch_thread threads[] = {{.target = 0}, {.target = 1}};
static struct batch_sample samples[2];
static const struct plausible_limits any_boot = {UINT64_MAX, LIMIT_CPUS};

/* A window of ten seconds after 1000, of a board with two CPUs; both targets are empty. */
static struct batch window(void) {
  samples[0] = (struct batch_sample){.thread = 0};
  samples[1] = (struct batch_sample){.thread = 1};
  return (struct batch){.start_boottime_ns = 1000 * SECOND,
                        .end_boottime_ns = 1010 * SECOND,
                        .cpus = 2,
                        .target_count = 2,
                        .thread_count = 2,
                        .sample_count = 2,
                        .threads = threads,
                        .samples = samples};
}

static void assert_taken(const struct batch *batch) {
  char why[256] = "";
  assert_int_equal(plausible_batch(batch, &any_boot, why, sizeof why), 0);
  assert_string_equal(why, "");
}

static void assert_refused(const struct batch *batch, const char *what) {
  char why[256] = "";
  assert_int_equal(plausible_batch(batch, &any_boot, why, sizeof why), -ERANGE);
  assert_non_null(strstr(why, what));
}

static void all_targets_have_no_more_time_than_the_cpus_had(void **state) {
  (void)state;
  struct batch batch = window();
  samples[0].weight = samples[1].weight = 2 * 70 * SECOND;
  assert_taken(&batch);
  samples[1].weight++;
  assert_refused(&batch, "280000000001, where 280000000000 is the most");
}

static void a_cpu_takes_no_more_than_ten_thousand_samples_a_second(void **state) {
  (void)state;
  struct batch batch = window();
  samples[0].count = samples[1].count = 1400000;
  assert_taken(&batch);
  samples[0].count++;
  assert_refused(&batch, "records in one window");
}

static void a_board_has_no_more_cpus_than_a_board_may_have(void **state) {
  (void)state;
  const struct plausible_limits limits = {UINT64_MAX, 4};
  struct batch batch = window();
  char why[256];
  batch.cpus = 4;
  assert_int_equal(plausible_batch(&batch, &limits, why, sizeof why), 0);
  batch.cpus = 5;
  assert_int_equal(plausible_batch(&batch, &limits, why, sizeof why), -ERANGE);
  assert_non_null(strstr(why, "--board-cpus-max): 5, where 4 is the most"));
}

static void a_board_that_does_not_say_its_cpus_has_as_many_as_a_board_may_have(void **state) {
  (void)state;
  const struct plausible_limits limits = {UINT64_MAX, 4};
  struct batch batch = window();
  char why[256];
  batch.cpus = 0;
  samples[0].weight = UINT64_C(2) * 4 * 70 * SECOND;
  assert_int_equal(plausible_batch(&batch, &limits, why, sizeof why), 0);
  samples[1].weight = 1;
  assert_int_equal(plausible_batch(&batch, &limits, why, sizeof why), -ERANGE);
  assert_non_null(strstr(why, "560000000001, where 560000000000 is the most"));
}

static void a_window_as_long_as_its_time_took_is_taken(void **state) {
  (void)state;
  struct batch batch = window();
  samples[0].weight = 2 * 1000 * SECOND; /* a daemon that slept while both CPUs were busy */
  assert_refused(&batch, "CPU time in one window");
  batch.start_boottime_ns = 10 * SECOND;
  assert_taken(&batch);
}

static void no_batch_is_more_than_a_hundredth_of_what_a_column_holds(void **state) {
  (void)state;
  struct batch batch = window();
  batch.start_boottime_ns = 0;
  batch.end_boottime_ns = PLAUSIBLE_BOOT_NS_MAX;
  batch.cpus = LIMIT_CPUS;
  samples[0].weight = LIMIT_BATCH_WEIGHT_NS;
  assert_taken(&batch);
  samples[1].weight = 1;
  assert_refused(&batch, "CPU time");
  samples[0].weight = samples[1].weight = INT64_MAX; /* the sum wraps in 64 bits */
  assert_refused(&batch, "CPU time");
}

static void a_window_ends_within_its_boot(void **state) {
  (void)state;
  struct plausible_limits limits = {1010 * SECOND, LIMIT_CPUS};
  struct batch batch = window();
  char why[256];
  assert_int_equal(plausible_batch(&batch, &limits, why, sizeof why), 0);
  limits.boot_ns--;
  assert_int_equal(plausible_batch(&batch, &limits, why, sizeof why), -ERANGE);
  assert_non_null(strstr(why, "nanoseconds since boot"));
  batch.end_boottime_ns = PLAUSIBLE_BOOT_NS_MAX + 1;
  assert_refused(&batch, "nanoseconds since boot");
}

static void no_run_makes_or_loses_more_than_can_be(void **state) {
  (void)state;
  struct batch batch = window();
  uint64_t *const counts[] = {&batch.counters.produced, &batch.counters.shipped,
                              &batch.counters.dropped[LOSS_REASON_COUNT - 1]};
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
    *counts[i] = PLAUSIBLE_RECORDS_MAX;
    assert_taken(&batch);
    *counts[i] += 1;
    assert_refused(&batch, "records of one run");
    *counts[i] = 0;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_targets_have_no_more_time_than_the_cpus_had),
      cmocka_unit_test(a_cpu_takes_no_more_than_ten_thousand_samples_a_second),
      cmocka_unit_test(a_board_has_no_more_cpus_than_a_board_may_have),
      cmocka_unit_test(a_board_that_does_not_say_its_cpus_has_as_many_as_a_board_may_have),
      cmocka_unit_test(a_window_as_long_as_its_time_took_is_taken),
      cmocka_unit_test(no_batch_is_more_than_a_hundredth_of_what_a_column_holds),
      cmocka_unit_test(a_window_ends_within_its_boot),
      cmocka_unit_test(no_run_makes_or_loses_more_than_can_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
