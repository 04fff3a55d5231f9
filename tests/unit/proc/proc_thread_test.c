/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of /proc as kernels wrote them, and this process's own. */
#include "proc/proc_thread.h"

#include "proc/proc_stat.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void schedstat_begins_with_the_cpu_time(void **state) {
  (void)state;
  struct proc_schedstat stat;
  assert_int_equal(proc_schedstat_parse(span_of_string("22375506 47005911 160\n"), &stat), 0);
  assert_int_equal(stat.cpu_ns, 22375506);
  assert_int_equal(stat.wait_ns, 47005911);
  assert_int_equal(stat.turns, 160);
  assert_int_equal(proc_schedstat_parse(span_of_string("0 50766 1\n"), &stat), 0);
  assert_int_equal(stat.cpu_ns, 0);
}

static void a_schedstat_that_is_not_kept_or_none_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"", "0 0 0\n", "12 13", "x 1 2", "-1 2 3", " "};
  struct proc_schedstat stat = {.cpu_ns = 7};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(proc_schedstat_parse(span_of_string(bad[i]), &stat), -EBADMSG);
  assert_int_equal(stat.cpu_ns, 7);
}

/* A program with three timers: two of the agent's, and one with another signal. */
static const char three_timers[] = "ID: 0\nsignal: 58/00007f5c1a2b3c41\nnotify: signal/tid.8402\n"
                                   "ClockID: -2\n"
                                   "ID: 1\nsignal: 37/0000000000000000\nnotify: signal/tid.8403\n"
                                   "ClockID: 1\n"
                                   "ID: 2\nsignal: 58/00007f5c1a2b3cc1\nnotify: signal/tid.8404\n"
                                   "ClockID: -2\n"
                                   "ID: 3\nsignal: 58/0\nnotify: signal/pid.8402\nClockID: 0\n";

static void timers_of_the_signal_name_their_threads(void **state) {
  (void)state;
  struct proc_timers timers;
  proc_timers_parse(span_of_string(three_timers), 58, &timers);
  assert_true(timers.is_known);
  assert_int_equal(timers.count, 2);
  assert_true(proc_timers_has(&timers, 8402));
  assert_true(proc_timers_has(&timers, 8404));
  assert_false(proc_timers_has(&timers, 8403)); /* another signal */
}

static void children_are_those_that_live_and_are_waited_for(void **state) {
  enum { CHILDREN = 5 };
  pid_t made[CHILDREN], found[CHILDREN];
  (void)state;
  for (unsigned i = 0; i < CHILDREN; i++) {
    made[i] = fork();
    if (made[i] == 0) pause();
  }
  unsigned count = proc_children(getpid(), found, CHILDREN);
  unsigned few = proc_children(getpid(), found, 2);
  for (unsigned i = 0; i < CHILDREN; i++) assert_true(proc_shares_namespace(made[i], "pid"));
  for (unsigned i = 0; i < CHILDREN; i++) kill(made[i], SIGKILL);
  for (unsigned i = 0; i < CHILDREN; i++) waitpid(made[i], NULL, 0);
  if (access("/proc/self/task", F_OK) == 0 && count == 0) skip(); /* no CONFIG_PROC_CHILDREN */
  assert_int_equal(count, CHILDREN);
  assert_int_equal(few, 2);
  assert_int_equal(found[1], made[1]);
  assert_int_equal(proc_children(getpid(), found, CHILDREN), 0);
}

static void no_timers_are_known_to_be_none(void **state) {
  (void)state;
  struct proc_timers timers;
  proc_timers_parse(span_of_string(""), 58, &timers);
  assert_true(timers.is_known);
  assert_int_equal(timers.count, 0);
}

static void a_text_that_is_cut_anywhere_harms_nothing(void **state) {
  (void)state;
  struct proc_timers timers;
  for (size_t len = 0; len < sizeof three_timers; len++) {
    char *copy = malloc(len + 1); /* of its own size: reading past the end would show */
    memcpy(copy, three_timers, len);
    proc_timers_parse(span_of((const uint8_t *)copy, len), 58, &timers);
    assert_true(timers.count <= 2);
    free(copy);
  }
}

static void more_timers_than_are_kept_are_not_known(void **state) {
  (void)state;
  static char text[(PROC_TIMERS_MAX + 1) * 80];
  struct proc_timers timers;
  size_t len = 0;
  for (int i = 0; i <= PROC_TIMERS_MAX; i++)
    len += (size_t)snprintf(text + len, sizeof text - len, "signal: 58/0\nnotify: signal/tid.%d\n",
                            i + 1);
  proc_timers_parse(span_of((const uint8_t *)text, len), 58, &timers);
  assert_false(timers.is_known);
}

static void this_thread_has_cpu_time_and_a_stranger_has_none(void **state) {
  (void)state;
  uint64_t before, after;
  volatile uint64_t sum = 0;
  pid_t tid = (pid_t)syscall(SYS_gettid);
  assert_int_equal(proc_thread_cpu_ns(getpid(), tid, &before), 0);
  for (unsigned i = 0; i < 60000000; i++) sum += i;
  assert_int_equal(proc_thread_cpu_ns(getpid(), tid, &after), 0);
  assert_true(after > before);
  assert_true(proc_thread_cpu_ns(getpid(), 1 << 30, &after) < 0);
}

static void a_timer_that_is_made_here_is_found(void **state) {
  (void)state;
  struct proc_timers timers;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 5};
  timer_t timer;
  assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  proc_timers_read(getpid(), SIGRTMIN + 5, &timers);
  /* To the process, not to a thread: read and left out.  Without the file nothing is known. */
  assert_int_equal(timers.is_known, access("/proc/self/timers", R_OK) == 0);
  assert_int_equal(timers.count, 0);
  timer_delete(timer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schedstat_begins_with_the_cpu_time),
      cmocka_unit_test(a_schedstat_that_is_not_kept_or_none_is_refused),
      cmocka_unit_test(timers_of_the_signal_name_their_threads),
      cmocka_unit_test(children_are_those_that_live_and_are_waited_for),
      cmocka_unit_test(no_timers_are_known_to_be_none),
      cmocka_unit_test(a_text_that_is_cut_anywhere_harms_nothing),
      cmocka_unit_test(more_timers_than_are_kept_are_not_known),
      cmocka_unit_test(this_thread_has_cpu_time_and_a_stranger_has_none),
      cmocka_unit_test(a_timer_that_is_made_here_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
