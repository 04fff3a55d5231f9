/* SPDX-License-Identifier: Apache-2.0 */
/* A lane works in order, in groups, and gives every job back. */
#include "ingest/lane.h"

#include "common/clock.h"
#include "ingest/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { JOBS = 1000, GROUP_MAX = 16 };

static atomic_uint done_count, failed_count, largest_group, out_of_order;
static atomic_bool is_slow;
static uint64_t last_session;

static void work(void *context, struct job *group) {
  unsigned size = 0;
  (void)context;
  for (struct job *job = group; job != NULL; job = job->next) {
    if (job->session != ++last_session) atomic_fetch_add(&out_of_order, 1);
    size++;
  }
  if (size > atomic_load(&largest_group)) atomic_store(&largest_group, size);
  if (atomic_load(&is_slow)) usleep(20000);
}

static void take(void *context, struct job *group) {
  (void)context;
  while (group != NULL) {
    struct job *next = group->next;
    atomic_fetch_add(&done_count, 1);
    if (group->outcome == JOB_FAILED) atomic_fetch_add(&failed_count, 1);
    job_free(group);
    group = next;
  }
}

static struct lane *start(void) {
  const struct lane_parts parts = {
      .name = "test", .group_max = GROUP_MAX, .run = work, .done = take};
  struct lane *lane = NULL;
  done_count = failed_count = largest_group = out_of_order = 0;
  last_session = 0;
  assert_int_equal(lane_start(&parts, &lane), 0);
  return lane;
}

static void submit(struct lane *lane, unsigned count) {
  for (unsigned i = 1; i <= count; i++) {
    struct job *job = job_new(JOB_PING);
    job->session = i;
    lane_submit(lane, job);
  }
}

static void every_job_comes_back_in_order_in_bounded_groups(void **state) {
  (void)state;
  is_slow = false;
  struct lane *lane = start();
  submit(lane, JOBS);
  lane_stop(lane, clock_monotonic_ns() + 10 * NS_PER_SECOND);
  assert_int_equal(done_count, JOBS);
  assert_int_equal(failed_count, 0);
  assert_int_equal(out_of_order, 0);
  assert_in_range(largest_group, 1, GROUP_MAX);
}

static void what_waits_behind_slow_work_becomes_one_group(void **state) {
  (void)state;
  is_slow = true;
  struct lane *lane = start();
  submit(lane, 1);
  usleep(5000); /* the first is being worked on now */
  for (uint64_t i = 2; i <= GROUP_MAX; i++) {
    struct job *job = job_new(JOB_PING);
    job->session = i;
    lane_submit(lane, job);
  }
  lane_stop(lane, clock_monotonic_ns() + 10 * NS_PER_SECOND);
  assert_int_equal(done_count, GROUP_MAX);
  assert_true(largest_group > 1);
}

static void a_stop_with_no_time_left_gives_the_rest_back_unworked(void **state) {
  (void)state;
  is_slow = true;
  struct lane *lane = start();
  submit(lane, JOBS);
  uint64_t began_ns = clock_monotonic_ns();
  lane_stop(lane, began_ns);
  assert_true(clock_monotonic_ns() - began_ns < NS_PER_SECOND / 2);
  assert_int_equal(done_count, JOBS);
  assert_true(failed_count > JOBS / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_job_comes_back_in_order_in_bounded_groups),
      cmocka_unit_test(what_waits_behind_slow_work_becomes_one_group),
      cmocka_unit_test(a_stop_with_no_time_left_gives_the_rest_back_unworked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
