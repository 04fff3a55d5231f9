/* SPDX-License-Identifier: Apache-2.0 */
/* The processes on which a system-wide daemon opens perf events; needs root and a kernel with perf.
 */
#include "intake/perf_attr.h"
#include "intake/unwind_choice.h"
#include "proc/proc_stat.h"
#include "targets/perf_admission.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { HIM = 65534, SOMEBODY_ELSE = 65533 };

static struct perf_rings rings;
static struct hold_target held;
static int fds[INTAKE_FDS_MAX];
static pid_t child;

static void begin(void (*become)(void)) {
  struct proc_stat stat;
  int ready[2];
  char byte;
  assert_int_equal(pipe(ready), 0);
  child = fork();
  if (child == 0) {
    become();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (write(ready[1], "", 1) == 1) pause();
    _exit(0);
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  assert_int_equal(proc_stat_read(child, &stat), 0);
  held = (struct hold_target){.kind = HOLD_PERF,
                              .pid = child,
                              .uid = HIM,
                              .start_ticks = stat.start_ticks,
                              .period_ns = 10000000};
}

static void end(void) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

/* setresuid takes "dumpable" away; an exec gives it back, as prctl does. */
static void be_him(void) {
  if (setresgid(HIM, HIM, HIM) || setresuid(HIM, HIM, HIM) || prctl(PR_SET_DUMPABLE, 1)) _exit(1);
}
static void be_him_undumpable(void) {
  be_him();
  prctl(PR_SET_DUMPABLE, 0);
}
static void be_him_with_roots_rights(void) {
  if (setresgid(HIM, HIM, HIM) || setresuid(HIM, HIM, 0) || prctl(PR_SET_DUMPABLE, 1)) _exit(1);
}
static void be_him_of_another_group(void) {
  if (setresgid(HIM, 4, HIM) || setresuid(HIM, HIM, HIM) || prctl(PR_SET_DUMPABLE, 1)) _exit(1);
}
static void be_another(void) {
  if (setresgid(HIM, HIM, HIM) || setresuid(SOMEBODY_ELSE, SOMEBODY_ELSE, SOMEBODY_ELSE) ||
      prctl(PR_SET_DUMPABLE, 1))
    _exit(1);
}

static void a_users_program_gets_events_that_fit_the_rings(void **state) {
  (void)state;
  uint64_t id;
  begin(be_him);
  assert_null(perf_admission_open(&rings, &held, fds));
  assert_int_equal(held.fd_count, rings.count);
  for (unsigned i = 0; i < hold_fds(&held); i++) assert_true(perf_event_id(fds[i], &id));
  for (unsigned i = 0; i < rings.count; i++)
    assert_int_equal(perf_ring_redirect(&rings.cpus[i], fds[i]), 0);
  for (unsigned i = 0; i < hold_fds(&held); i++) close(fds[i]);
  end();
}

static void refused(void (*become)(void)) {
  begin(become);
  assert_non_null(perf_admission_open(&rings, &held, fds));
  assert_int_equal(hold_fds(&held), 0);
  end();
}

static void a_program_with_more_rights_than_its_user_gets_none(void **state) {
  (void)state;
  refused(be_him_undumpable);
  refused(be_him_with_roots_rights);
  refused(be_him_of_another_group);
  refused(be_another);
}

static void another_process_of_the_same_number_gets_none(void **state) {
  (void)state;
  begin(be_him);
  held.start_ticks++;
  assert_non_null(perf_admission_open(&rings, &held, fds));
  end();
  held.start_ticks--;
  assert_non_null(perf_admission_open(&rings, &held, fds)); /* it has ended */
}

static long paranoid(void) {
  long value = 2;
  FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
  if (file == NULL || fscanf(file, "%ld", &value) != 1) value = 2;
  if (file != NULL) fclose(file);
  return value;
}

static void the_daemons_rights_show_a_user_no_more_of_the_kernel(void **state) {
  (void)state;
  bool may_see = perf_attr_may_see_kernel();
  uint32_t own = perf_admission_content(geteuid(), false, UNWIND_CHOICE_CFI);
  uint32_t his = perf_admission_content(HIM, false, UNWIND_CHOICE_CFI);
  assert_int_equal((own & PERF_CONTENT_KERNEL) != 0, may_see);
  assert_int_equal((his & PERF_CONTENT_KERNEL) != 0, may_see && paranoid() <= 1);
  assert_int_equal(perf_content_callers(his), perf_content_callers(own));
}

static int open_rings(void **state) {
  (void)state;
  perf_rings_open(&rings);
  return 0;
}

static int close_rings(void **state) {
  (void)state;
  perf_rings_close(&rings);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_users_program_gets_events_that_fit_the_rings),
      cmocka_unit_test(a_program_with_more_rights_than_its_user_gets_none),
      cmocka_unit_test(another_process_of_the_same_number_gets_none),
      cmocka_unit_test(the_daemons_rights_show_a_user_no_more_of_the_kernel),
  };
  if (geteuid() != 0 || access("/proc/sys/kernel/perf_event_paranoid", F_OK) != 0) return 0;
  return cmocka_run_group_tests(tests, open_rings, close_rings);
}
