/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever an interval timer's signals claim, the sum of a process's records never exceeds its
   exact CPU clock. */
#include "targets/process_clock.h"
#include "targets/processes.h"
#include "targets/targets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ULL
#define HOUR_NS (3600 * SECOND_NS)
#define TICK_NS 4000000

static struct target target;
static struct process process;

static int setup(void **state) {
  (void)state;
  target = (struct target){.held = {.pid = getpid(), .clock = RING_CLOCK_PROF}};
  process = (struct process){.pid = getpid()};
  while (proc_cpu_ns(getpid()) < SECOND_NS / 50) continue;
  return 0;
}

/* COUNT records of WEIGHT_NS each; returns their total weight. */
static uint64_t drain(unsigned count, uint64_t weight_ns) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < count; i++) process_clock_expect(&process, weight_ns);
  process_clock_settle(&target, &process, TICK_NS);
  process_clock_settle(&target, &process, TICK_NS); /* once for each slot */
  for (unsigned i = 0; i < count; i++) sum += process_clock_take(&target, &process, weight_ns);
  target.weight_ns += sum;
  return sum;
}

static void records_within_the_clock_are_worth_what_they_say(void **state) {
  (void)state;
  assert_int_equal(drain(10, 100000), 1000000);
  assert_int_equal(drain(10, 100000), 1000000);
}

static void records_that_the_tick_merged_are_worth_a_tick_more_at_the_most(void **state) {
  (void)state;
  static struct ring_header header;
  target.ring.base = (uint8_t *)&header;
  target.held.period_ns = 1000000; /* the tick has four of them */
  assert_int_equal(drain(2, 1000000), 10000000);
  header.signals_strayed = 1; /* some of the time was that of threads without a slot */
  assert_int_equal(drain(2, 1000000), 2000000);
  header.signals_strayed = 0;
}

static void records_beyond_it_share_what_is_left(void **state) {
  (void)state;
  uint64_t before = proc_cpu_ns(getpid());
  uint64_t sum = drain(100, HOUR_NS);
  assert_true(sum > before - 200 && sum <= proc_cpu_ns(getpid()));
  uint64_t more = drain(100, HOUR_NS); /* only the time spent since then */
  assert_true(sum + more <= proc_cpu_ns(getpid()));
}

static void what_was_spent_before_the_agent_came_is_not_to_be_had(void **state) {
  (void)state;
  target.held.start_cpu_ns = proc_cpu_ns(getpid());
  uint64_t sum = drain(100, HOUR_NS);
  assert_true(sum <= proc_cpu_ns(getpid()) - target.held.start_cpu_ns + 100);
}

static void a_forked_child_has_all_of_its_clock(void **state) {
  (void)state;
  target.held.pid = getpid() + 1;
  target.held.start_cpu_ns = HOUR_NS;
  assert_true(drain(100, HOUR_NS) > SECOND_NS / 60);
}

static void a_new_worker_takes_what_is_there_and_counts_from_then_on(void **state) {
  (void)state;
  target.is_restored = true;
  uint64_t now = proc_cpu_ns(getpid());
  assert_int_equal(drain(10, now / 20), now / 20 * 10);
  assert_true(drain(100, HOUR_NS) < now / 2);
}

static void records_of_a_process_that_is_gone_are_worth_the_average(void **state) {
  (void)state;
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  process.pid = child;
  assert_int_equal(proc_cpu_ns(child), 0);
  assert_int_equal(drain(10, 1000), 10000); /* nothing is known yet */
  target.asked_ns = 4 * SECOND_NS;
  target.weight_ns = 3 * SECOND_NS;
  uint64_t sum = drain(10, 100000);
  assert_true(sum > 749000 && sum <= 750000);
}

static void no_record_weighs_nothing(void **state) {
  (void)state;
  target.held.start_cpu_ns = HOUR_NS; /* the clock reports no further time */
  assert_int_equal(drain(3, 1000), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(records_within_the_clock_are_worth_what_they_say, setup),
      cmocka_unit_test_setup(records_that_the_tick_merged_are_worth_a_tick_more_at_the_most, setup),
      cmocka_unit_test_setup(records_beyond_it_share_what_is_left, setup),
      cmocka_unit_test_setup(what_was_spent_before_the_agent_came_is_not_to_be_had, setup),
      cmocka_unit_test_setup(a_forked_child_has_all_of_its_clock, setup),
      cmocka_unit_test_setup(a_new_worker_takes_what_is_there_and_counts_from_then_on, setup),
      cmocka_unit_test_setup(records_of_a_process_that_is_gone_are_worth_the_average, setup),
      cmocka_unit_test_setup(no_record_weighs_nothing, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
