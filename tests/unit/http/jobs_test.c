/* SPDX-License-Identifier: Apache-2.0 */
#include "http/jobs.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT = 4 };

struct counted_job {
  struct job job;
  int number;
};

static struct event_base *loop;
static struct jobs *jobs;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* held: jobs wait in `run` */
static int order[16], ended, stopped, displaced;

static void run(struct job *job) {
  (void)job;
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
}

static void on_done(struct job *job, enum job_end end) {
  if (end == JOB_DISPLACED) {
    displaced = ((struct counted_job *)job)->number;
    return;
  }
  stopped += end == JOB_STOPPED;
  order[ended++] = ((struct counted_job *)job)->number;
  if (ended == LIMIT) event_base_loopbreak(loop);
}

static int set_up(void **state) {
  (void)state;
  ended = stopped = 0;
  displaced = -1;
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
  assert_int_equal(stopped, 0);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
}

static void a_full_queue_refuses_at_once(void **state) {
  (void)state;
  struct counted_job all[LIMIT + 2];
  int taken = 0;
  pthread_mutex_lock(&gate);
  /* The worker takes a job out of the queue, now or later. */
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

/* The worker has FIRST, of requester 1, until the gate is opened. */
static void hold_worker(struct counted_job *first) {
  *first = (struct counted_job){.job = {.requester = 1, .run = run, .on_done = on_done}};
  pthread_mutex_lock(&gate);
  assert_int_equal(jobs_add(jobs, &first->job), 0);
  while (jobs_waiting(jobs) > 0) usleep(1000);
}

static int add_of(struct counted_job *job, uint64_t requester, int number) {
  *job = (struct counted_job){.job = {.requester = requester, .run = run, .on_done = on_done},
                              .number = number};
  return jobs_add(jobs, &job->job);
}

static void requesters_take_turns(void **state) {
  (void)state;
  struct counted_job all[LIMIT];
  static const int expected[LIMIT] = {0, 3, 1, 2};
  hold_worker(&all[0]);
  assert_int_equal(add_of(&all[1], 1, 1), 0);
  assert_int_equal(add_of(&all[2], 1, 2), 0);
  assert_int_equal(add_of(&all[3], 2, 3), 0);
  pthread_mutex_unlock(&gate);
  event_base_dispatch(loop);
  assert_memory_equal(order, expected, sizeof expected);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
}

/* Two clients that query continuously delay a third by one query each, not forever. */
static void who_asks_again_waits_for_who_waits(void **state) {
  (void)state;
  struct counted_job all[LIMIT + 1];
  hold_worker(&all[0]);
  assert_int_equal(add_of(&all[1], 2, 1), 0);
  pthread_mutex_unlock(&gate);
  while (ended < 2) event_base_loop(loop, EVLOOP_ONCE);
  pthread_mutex_lock(&gate); /* 1 and 2 have been served in this turn */
  assert_int_equal(add_of(&all[2], 3, 2), 0);
  while (jobs_waiting(jobs) > 0) usleep(1000);
  assert_int_equal(add_of(&all[3], 1, 3), 0);
  assert_int_equal(add_of(&all[4], 2, 4), 0);
  assert_int_equal(all[3].job.turn, all[4].job.turn);
  assert_true(all[3].job.turn > all[2].job.turn);
  pthread_mutex_unlock(&gate);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
}

static void a_full_queue_makes_room_for_who_has_less_of_it(void **state) {
  (void)state;
  struct counted_job all[LIMIT + 4];
  hold_worker(&all[0]);
  for (int i = 1; i <= LIMIT; i++) assert_int_equal(add_of(&all[i], 1, i), 0);
  assert_int_equal(add_of(&all[LIMIT + 1], 1, LIMIT + 1), -ENOSPC); /* his share is all of it */
  assert_int_equal(add_of(&all[LIMIT + 2], 2, LIMIT + 2), 0);
  assert_int_equal(displaced, LIMIT);
  assert_int_equal(add_of(&all[LIMIT + 3], 2, LIMIT + 3), 0);
  assert_int_equal(displaced, LIMIT - 1);
  assert_int_equal(add_of(&all[LIMIT + 1], 2, LIMIT + 1), -ENOSPC); /* two each */
  assert_int_equal(add_of(&all[LIMIT + 1], 3, LIMIT + 1), 0);
  assert_true(displaced == LIMIT - 2 || displaced == LIMIT + 3);
  assert_int_equal(jobs_waiting(jobs), LIMIT);
  pthread_mutex_unlock(&gate);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
}

static void what_is_removed_is_neither_run_nor_given_back(void **state) {
  (void)state;
  struct counted_job all[LIMIT];
  hold_worker(&all[0]);
  for (int i = 1; i < LIMIT; i++) assert_int_equal(add_of(&all[i], 1, i), 0);
  assert_true(jobs_remove(jobs, &all[LIMIT - 1].job)); /* the last */
  assert_true(jobs_remove(jobs, &all[1].job));         /* the first */
  assert_false(jobs_remove(jobs, &all[1].job));
  assert_false(jobs_remove(jobs, &all[0].job)); /* it runs */
  assert_int_equal(add_of(&all[1], 1, 1), 0);   /* the list is whole */
  pthread_mutex_unlock(&gate);
  while (ended < 3) event_base_loop(loop, EVLOOP_ONCE);
  assert_int_equal(order[1], 2);
  assert_int_equal(order[2], 1);
  assert_int_equal(jobs_stop(jobs, 1000), 0);
  assert_int_equal(ended, 3);
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
      cmocka_unit_test_setup_teardown(requesters_take_turns, set_up, tear_down),
      cmocka_unit_test_setup_teardown(who_asks_again_waits_for_who_waits, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_full_queue_makes_room_for_who_has_less_of_it, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(what_is_removed_is_neither_run_nor_given_back, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(stopping_gives_up_what_waits_and_returns_what_ran, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_job_that_does_not_end_does_not_hold_up_a_stop, set_up,
                                      tear_down),
      cmocka_unit_test(nothing_started_is_nothing_to_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
