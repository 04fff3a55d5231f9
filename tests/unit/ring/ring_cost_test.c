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

static void a_quantile_lies_in_the_bucket_that_holds_it(void **state) {
  (void)state;
  uint32_t buckets[RING_COST_BUCKETS] = {0};
  assert_true(ring_cost_quantile(buckets, 0.5) == 0);
  buckets[7] = 98;
  buckets[12] = 2;
  double median = ring_cost_quantile(buckets, 0.5), p99 = ring_cost_quantile(buckets, 0.99);
  assert_true(median > 128 && median < 256);
  assert_true(p99 > 4096 && p99 < 8192);
  assert_true(ring_cost_quantile(buckets, 1) == 8192);
  memset(buckets, 0xff, sizeof buckets);
  assert_true(ring_cost_quantile(buckets, 1) <= 4294967296.0);
}

static void ticks_become_nanoseconds_by_the_clocks_rate(void **state) {
  (void)state;
  struct ring_cost cost;
  assert_int_equal(ring_cost_read(&ring, 0.5, &cost), -ENODATA);
  header()->cost_unit = RING_COST_TICKS;
  header()->cost[8] = 100;
  assert_int_equal(ring_cost_read(&ring, 0, &cost), -ENODATA);
  assert_int_equal(ring_cost_read(&ring, 0.5, &cost), 0);
  assert_int_equal(cost.runs, 100);
  assert_int_equal(cost.p50_ns, 192);
  header()->cost_unit = RING_COST_NS;
  assert_int_equal(ring_cost_read(&ring, 0, &cost), 0);
  assert_int_equal(cost.p50_ns, 384);
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
      CLAIM(a_quantile_lies_in_the_bucket_that_holds_it),
      CLAIM(ticks_become_nanoseconds_by_the_clocks_rate),
      CLAIM(the_counter_is_measured_against_the_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
