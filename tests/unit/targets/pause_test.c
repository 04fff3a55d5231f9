/* SPDX-License-Identifier: Apache-2.0 */
/* Which rests of a timer target are marked `paused`: those that may have time of a pause in them,
   and no others. */
#include "targets/pause.h"
#include "targets/target.h"
#include "targets/timer_ring.h"

#include "proc/proc_stat.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct target *target;

static pid_t start(void) {
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  assert_true(pid > 0);
  return pid;
}

static void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

/* PID takes row AT, and is detected as younger than its previous process. */
static pid_t start_in(unsigned at) {
  struct ring_header *header = (struct ring_header *)(void *)target->ring.base;
  nanosleep(&(struct timespec){0, 30000000}, NULL);
  pid_t pid = start();
  atomic_store(&header->processes[at].who, (uint64_t)pid << 32);
  return pid;
}

static int make(void **state) {
  struct proc_stat stat;
  struct hold_target held = {.kind = HOLD_TIMER, .id = 1, .pid = start(), .fd_count = 1};
  (void)state;
  held.asked_mhz = 100000;
  held.period_ns = 10000000;
  timer_ring_size(&held, 0);
  if (proc_stat_read(held.pid, &stat) != 0) return -1;
  held.start_ticks = stat.start_ticks;
  int fd = timer_ring_make(&held);
  target = fd >= 0 ? target_new(&held, &fd) : NULL;
  return target != NULL ? 0 : -1;
}

static int unmake(void **state) {
  (void)state;
  if (proc_lives(target->held.pid, target->held.start_ticks)) end(target->held.pid);
  target_free(target, true);
  return 0;
}

static void switch_to(enum ring_control control) {
  target->held.control = control;
  if (control == RING_RUN)
    pause_end(target);
  else
    pause_begin(target);
}

/* A rest is reported now; returns whether its batch is marked. */
static bool is_marked(bool is_final) {
  pause_look(target, is_final);
  target->shows_pause = pause_is_in_rest(target);
  return target_take_pause(target);
}

static void what_was_never_paused_is_not_marked(void **state) {
  (void)state;
  assert_false(is_marked(false));
  assert_false(is_marked(true));
}

static void while_it_is_paused_each_rest_is_marked(void **state) {
  (void)state;
  switch_to(RING_PAUSE);
  for (unsigned i = 0; i < 5; i++) assert_true(is_marked(false));
}

static void a_child_that_began_after_the_resume_leaves_no_mark(void **state) {
  (void)state;
  switch_to(RING_PAUSE);
  switch_to(RING_RUN);
  pid_t child = start_in(3);
  assert_false(is_marked(false));
  end(child);
  assert_false(is_marked(false));
  assert_true(target->held.has_paused); /* the program itself has not confirmed yet */
  assert_true(is_marked(true));
}

static void who_was_there_in_the_pause_leaves_a_mark_when_he_ends(void **state) {
  (void)state;
  pid_t child = start_in(3);
  switch_to(RING_PAUSE);
  switch_to(RING_RUN);
  assert_false(is_marked(false));
  end(child);
  assert_true(is_marked(false));
  assert_true(is_marked(false)); /* this one may contain the time of that target */
  assert_false(is_marked(false));
}

static void who_ended_within_the_pause_leaves_a_mark_after_it(void **state) {
  struct ring_header *header = (struct ring_header *)(void *)target->ring.base;
  (void)state;
  switch_to(RING_PAUSE);
  atomic_store(&header->exit_cpu_ns, 1000000);
  switch_to(RING_RUN);
  assert_true(is_marked(false));
  assert_true(is_marked(false));
  assert_false(is_marked(false));
}

static void it_is_over_when_all_of_it_have_ended_and_told(void **state) {
  (void)state;
  switch_to(RING_PAUSE);
  pid_t child = start_in(3);
  switch_to(RING_RUN);
  end(target->held.pid);
  end(child);
  child = start_in(4);
  assert_true(is_marked(false));
  assert_true(is_marked(false));
  assert_false(is_marked(false));
  assert_false(target->held.has_paused);
  assert_false(is_marked(true));
  end(child);
}

static void a_worker_that_begins_after_it_marks_only_who_ends(void **state) {
  (void)state;
  target->held.has_paused = true; /* as the keeper has it */
  assert_false(is_marked(false));
  assert_true(is_marked(true));
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(what_was_never_paused_is_not_marked),
      TEST(while_it_is_paused_each_rest_is_marked),
      TEST(a_child_that_began_after_the_resume_leaves_no_mark),
      TEST(who_was_there_in_the_pause_leaves_a_mark_when_he_ends),
      TEST(who_ended_within_the_pause_leaves_a_mark_after_it),
      TEST(it_is_over_when_all_of_it_have_ended_and_told),
      TEST(a_worker_that_begins_after_it_marks_only_who_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
