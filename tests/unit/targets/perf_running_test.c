/* SPDX-License-Identifier: Apache-2.0 */
/* Events on a running child, with one thread and with three. */
#include "targets/perf_running.h"

#include "proc/proc_stat.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct perf_rings rings;
static pid_t child;

static void *burn(void *nothing) {
  volatile uint64_t sink = 0;
  for (;;) sink++;
  return nothing;
}

static void be_program(unsigned more_threads, int ready) {
  pthread_t thread;
  for (unsigned i = 0; i < more_threads; i++)
    if (pthread_create(&thread, NULL, burn, NULL) != 0) _exit(1);
  if (write(ready, "r", 1) != 1) _exit(1);
  burn(NULL);
}

/* A child with so many threads besides its first. */
static void start(unsigned more_threads, struct perf_running *ret) {
  struct proc_stat stat;
  char byte;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  child = fork();
  if (child == 0) be_program(more_threads, ends[1]);
  close(ends[1]);
  assert_int_equal(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  assert_int_equal(proc_stat_read(child, &stat), 0);
  *ret = (struct perf_running){.count = 1};
  ret->processes[0].pid = child;
  ret->processes[0].start_ticks = stat.start_ticks;
}

static void end(void) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static int make(void **state) {
  (void)state;
  perf_rings_open(&rings);
  return 0;
}

static int unmake(void **state) {
  (void)state;
  if (rings.count > 0) perf_rings_close(&rings);
  return 0;
}

static struct hold_target held_of_us(void) {
  return (struct hold_target){.kind = HOLD_PERF, .uid = geteuid(), .period_ns = 10000000};
}

static uint64_t sum_of(const int *fds, unsigned count) {
  uint64_t sum = 0, one;
  for (unsigned i = 0; i < count; i++) {
    assert_int_equal(perf_event_read_ns(fds[i], &one), 0);
    sum += one;
  }
  return sum;
}

static void wait_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Counts of each thread begin with perf_running_start and no sooner. */
static void count_threads(unsigned threads) {
  int fds[INTAKE_FDS_MAX];
  struct perf_running running;
  struct hold_target held = held_of_us();
  if (rings.count == 0) skip(); /* this kernel gives none */
  start(threads - 1, &running);
  assert_null(perf_running_open(&rings, &running, &held, fds));
  assert_int_equal(held.fd_count, threads * rings.count);
  assert_int_equal(held.exit_fd_count, threads == 1 ? 2 : 0);
  wait_ms(50);
  assert_int_equal(sum_of(fds, held.fd_count), 0);
  perf_running_start(&held, fds);
  for (unsigned tries = 0; tries < 200; tries++) {
    unsigned seen = 0;
    wait_ms(50);
    for (unsigned i = 0; i < threads; i++) seen += sum_of(fds + i * rings.count, rings.count) > 0;
    if (seen == threads) break;
  }
  for (unsigned i = 0; i < threads; i++)
    assert_true(sum_of(fds + i * rings.count, rings.count) > 0);
  end();
  for (unsigned i = 0; i < hold_fds(&held); i++) close(fds[i]);
}

static void one_thread_has_events_and_what_tells_of_ends(void **state) {
  (void)state;
  count_threads(1);
}

static void each_of_three_threads_has_events_of_its_own(void **state) {
  (void)state;
  count_threads(3);
}

static void a_program_that_is_gone_has_a_reason(void **state) {
  (void)state;
  int fds[INTAKE_FDS_MAX];
  struct perf_running running;
  struct hold_target held = held_of_us();
  if (rings.count == 0) skip();
  start(0, &running);
  end();
  assert_string_equal(perf_running_open(&rings, &running, &held, fds),
                      "it is gone, or has too many threads");
  assert_int_equal(hold_fds(&held), 0);
}

static void more_threads_than_a_packet_carries_are_left_to_the_timer(void **state) {
  (void)state;
  int fds[INTAKE_FDS_MAX];
  struct perf_running running;
  struct hold_target held = held_of_us();
  if (rings.count == 0) skip();
  start(INTAKE_FDS_MAX / rings.count, &running);
  assert_string_equal(perf_running_open(&rings, &running, &held, fds),
                      "it is gone, or has too many threads");
  end();
}

static void without_a_ring_its_reason_is_told(void **state) {
  (void)state;
  int fds[INTAKE_FDS_MAX];
  static struct perf_rings none = {.why = "no ring today"};
  struct perf_running running = {.count = 0};
  struct hold_target held = held_of_us();
  assert_string_equal(perf_running_open(&none, &running, &held, fds), "no ring today");
}

static void another_users_program_is_asked_about_first(void **state) {
  (void)state;
  int fds[INTAKE_FDS_MAX];
  struct perf_running running;
  struct hold_target held = held_of_us();
  if (rings.count == 0) skip();
  start(0, &running);
  held.uid++;
  const char *fault = perf_running_open(&rings, &running, &held, fds);
  end();
  assert_non_null(fault);
  assert_int_equal(hold_fds(&held), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread_has_events_and_what_tells_of_ends),
      cmocka_unit_test(each_of_three_threads_has_events_of_its_own),
      cmocka_unit_test(a_program_that_is_gone_has_a_reason),
      cmocka_unit_test(more_threads_than_a_packet_carries_are_left_to_the_timer),
      cmocka_unit_test(without_a_ring_its_reason_is_told),
      cmocka_unit_test(another_users_program_is_asked_about_first),
  };
  return cmocka_run_group_tests(tests, make, unmake);
}
