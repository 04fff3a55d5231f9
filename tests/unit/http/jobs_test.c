/* SPDX-License-Identifier: Apache-2.0 */
#include "http/jobs.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LIMIT = 4 };

struct counted_job {
  struct job job;
  int number;
};

static struct event_base *loop;
static struct jobs *jobs;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* held: jobs wait in `run` */
static int order[16], ended, given_up;

static void run(struct job *job) {
  (void)job;
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
}

static void on_done(struct job *job, bool was_run) {
  if (!was_run) given_up++;
  order[ended++] = ((struct counted_job *)job)->number;
  if (ended == LIMIT) event_base_loopbreak(loop);
}

static int set_up(void **state) {
  (void)state;
  ended = given_up = 0;
  evthread_use_pthreads();
  loop = event_base_new();
  return jobs_start(loop, "test", LIMIT, &jobs);
}

static int tear_down(void **state) {
  (void)state;
  event_base_free(loop);
  return 0;
}

static void fill(struct counted_job *all, int count) {
  for (int i = 0; i < count; i++) {
    all[i] = (struct counted_job){.job = {.run = run, .on_done = on_done}, .number = i};
    assert_int_equal(jobs_add(jobs, &all[i].job), 0);
  }
}

static void jobs_come_back_in_order_on_the_loop(void **state) {
  (void)state;
  struct counted_job all[LIMIT];
  fill(all, LIMIT);
  event_base_dispatch(loop);
  assert_int_equal(ended, LIMIT);
  for (int i = 0; i < LIMIT; i++) assert_int_equal(order[i], i);
  assert_int_equal(given_up, 0);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
}

static void a_full_queue_refuses_at_once(void **state) {
  (void)state;
  struct counted_job all[LIMIT + 2];
  int taken = 0;
  pthread_mutex_lock(&gate);
  /* The worker takes one out of the queue, now or later. */
  for (int i = 0; i < LIMIT + 2; i++) {
    all[i] = (struct counted_job){.job = {.run = run, .on_done = on_done}, .number = i};
    int error = jobs_add(jobs, &all[i].job);
    assert_true(error == 0 || error == -ENOSPC);
    if (error == 0) taken++;
  }
  assert_true(taken == LIMIT || taken == LIMIT + 1);
  pthread_mutex_unlock(&gate);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
  assert_int_equal(ended, taken);
}

static void stopping_gives_up_what_waits_and_returns_what_ran(void **state) {
  (void)state;
  struct counted_job all[LIMIT];
  fill(all, LIMIT);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
  assert_int_equal(ended, LIMIT);
}

static void a_job_that_does_not_end_does_not_hold_up_a_stop(void **state) {
  (void)state;
  static struct counted_job endless;
  endless = (struct counted_job){.job = {.run = run, .on_done = on_done}};
  pthread_mutex_lock(&gate);
  assert_int_equal(jobs_add(jobs, &endless.job), 0);
  struct timespec moment = {.tv_nsec = 50000000};
  nanosleep(&moment, NULL); /* until the worker has it */
  assert_int_equal(jobs_stop(jobs, 50), -ETIMEDOUT);
  pthread_mutex_unlock(&gate);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
}

static void nothing_started_is_nothing_to_stop(void **state) {
  (void)state;
  assert_int_equal(jobs_stop(NULL, 1000), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(jobs_come_back_in_order_on_the_loop, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_full_queue_refuses_at_once, set_up, tear_down),
      cmocka_unit_test_setup_teardown(stopping_gives_up_what_waits_and_returns_what_ran, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_job_that_does_not_end_does_not_hold_up_a_stop, set_up,
                                      tear_down),
      cmocka_unit_test(nothing_started_is_nothing_to_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
