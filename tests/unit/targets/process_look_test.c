/* SPDX-License-Identifier: Apache-2.0 */
/* Real children: a busy one, one that waits for this test's CPU, one that blocks the signal. */
#include "targets/process_look.h"
#include "targets/timer_ring.h"

#include "proc/proc_thread.h"

#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOKS = 500, LOOK_MS = 5 };
enum {
  LOOKS_FOR_ONE = 5000 /* on a busy machine the checking process displaces others from its CPU */
};

static void stay_on(unsigned cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  assert_int_equal(sched_setaffinity(0, sizeof cpus, &cpus), 0);
}

static void on_signal(int signal) {
  (void)signal;
}

static struct target timer_target(void) {
  struct target target;
  memset(&target, 0, sizeof target);
  target.held.kind = HOLD_TIMER;
  return target;
}

/* A child that catches the signal and burns. */
static pid_t start(bool blocks) {
  struct target target = timer_target();
  int number = (int)timer_ring_signal(&target.held);
  volatile uint64_t sink = 0;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid != 0) return pid;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  signal(number, on_signal);
  if (blocks) sigprocmask(SIG_BLOCK, &set, NULL);
  for (;;) sink++;
}

static void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

/* How many looks found PID on a CPU for their whole length; ends at the first when ONCE. */
static unsigned count_found(pid_t pid, bool once) {
  struct target target = timer_target();
  unsigned found = 0;
  for (unsigned i = 0; i < (once ? LOOKS_FOR_ONE : LOOKS) && !(once && found > 0); i++) {
    struct process_look look = process_look(&target, pid, 0);
    assert_true(look.may_call);
    found += process_look_holds(&target, pid, &look);
    if (once) poll(NULL, 0, LOOK_MS);
  }
  return found;
}

static void a_thread_at_work_is_found_on_its_cpu(void **state) {
  (void)state;
  struct proc_schedstat turns;
  if (proc_schedstat_read(getpid(), getpid(), &turns) != 0)
    skip(); /* no waiting thread is ever detected */
  pid_t pid = start(false);
  unsigned found = count_found(pid, true);
  end(pid);
  assert_int_equal(found, 1);
}

static void a_thread_that_waits_for_a_cpu_is_said_to_run_and_is_not_on_it(void **state) {
  (void)state;
  cpu_set_t before;
  struct target target = timer_target();
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  stay_on((unsigned)sched_getcpu());
  pid_t pid = start(false);
  unsigned running = 0;
  for (unsigned i = 0; i < LOOKS; i++) {
    struct process_look look = process_look(&target, pid, 0);
    running += look.running == pid;
  }
  unsigned found = count_found(pid, false);
  end(pid);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(running, LOOKS);
  assert_int_equal(found, 0);
}

static void who_blocks_the_signal_or_is_gone_is_not_found(void **state) {
  (void)state;
  pid_t deaf = start(true);
  struct target target = timer_target();
  /* Until it has blocked it. */
  for (unsigned i = 0; i < LOOKS && process_look(&target, deaf, 0).running != 0; i++)
    poll(NULL, 0, LOOK_MS);
  unsigned found_deaf = count_found(deaf, false);
  end(deaf);
  assert_int_equal(found_deaf, 0);
  struct process_look gone = process_look(&target, deaf, 0);
  assert_false(gone.may_call);
  assert_false(process_look_holds(&target, deaf, &gone));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_at_work_is_found_on_its_cpu),
      cmocka_unit_test(a_thread_that_waits_for_a_cpu_is_said_to_run_and_is_not_on_it),
      cmocka_unit_test(who_blocks_the_signal_or_is_gone_is_not_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
