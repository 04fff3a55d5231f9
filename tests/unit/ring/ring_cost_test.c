/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/ring_cost.h"
#include "ring/ticks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct ring_reader ring = {.slot_count = 1, .slot_bytes = RING_SLOT_BYTES_MIN};

static int setup(void **state) {
  (void)state;
  ring.base = calloc(1, ring_total_bytes(1, RING_SLOT_BYTES_MIN));
  ring_init(&ring, &(struct ring_terms){.period_ns = 10000000, .signal = 61});
  return ring.base == NULL;
}

static int teardown(void **state) {
  (void)state;
  free(ring.base);
  return 0;
}

static struct ring_header *header(void) {
  return (struct ring_header *)(void *)ring.base;
}

static void ticks_become_nanoseconds_by_the_clocks_rate(void **state) {
  (void)state;
  struct ring_cost cost;
  assert_int_equal(ring_cost_read(&ring, 0.5, &cost), -ENODATA);
  header()->cost_unit = RING_COST_TICKS;
  header()->cost_p50 = 200;
  header()->cost_p99 = 5000;
  assert_int_equal(ring_cost_read(&ring, 0.5, &cost), -ENODATA);
  header()->cost_runs = 128;
  assert_int_equal(ring_cost_read(&ring, 0, &cost), -ENODATA);
  assert_int_equal(ring_cost_read(&ring, 0.5, &cost), 0);
  assert_int_equal(cost.runs, 128);
  assert_int_equal(cost.p50_ns, 100);
  assert_int_equal(cost.p99_ns, 2500);
  header()->cost_unit = RING_COST_NS;
  assert_int_equal(ring_cost_read(&ring, 0, &cost), 0);
  assert_int_equal(cost.p50_ns, 200);
  header()->cost_p99 = 199; /* a lie */
  assert_int_equal(ring_cost_read(&ring, 1, &cost), -EBADMSG);
  header()->cost_p99 = 200;
  header()->cost_unit = 7;
  assert_int_equal(ring_cost_read(&ring, 1, &cost), -EBADMSG);
}

static void the_counter_is_measured_against_the_clock(void **state) {
  (void)state;
  struct ring_cost_clock clock;
  ring_cost_clock_start(&clock);
  assert_true(ring_cost_ns_per_tick(&(struct ring_cost_clock){UINT64_MAX, 0}) >= 0);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  double rate = ring_cost_ns_per_tick(&clock);
  if (!ticks_are_there()) assert_true(rate == 0);
  if (ticks_are_there()) assert_true(rate > 0.1 && rate < 1000); /* 1 MHz to 10 GHz */
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(ticks_become_nanoseconds_by_the_clocks_rate),
      CLAIM(the_counter_is_measured_against_the_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
