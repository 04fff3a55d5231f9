/* SPDX-License-Identifier: Apache-2.0 */
/* When a perf target's events count as stopped: this process is the program, and its events are any
   readable descriptors. Linked with --wrap=target_read_total, because the check may have to wait
   for the CPU just before it reads them. */
#include "daemon/ladder_look.h"

#include "perf/perf_ring.h"
#include "proc/proc_stat.h"
#include "ring/switch_format.h"
#include "targets/perf_running.h"
#include "targets/target.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000U

static struct target target;
static int fd;

static uint64_t spent_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void burn_ms(uint64_t ms) {
  uint64_t end = spent_ns() + ms * MS;
  while (spent_ns() < end) continue;
}

static uint64_t wait_ms; /* which the program spends meanwhile */

void __real_target_read_total(struct target *of);
void __wrap_target_read_total(struct target *of);

void __wrap_target_read_total(struct target *of) {
  burn_ms(wait_ms);
  __real_target_read_total(of);
}

static int make(void **state) {
  struct proc_stat stat;
  (void)state;
  if (proc_stat_read(getpid(), &stat) < 0) return -1;
  fd = open("/dev/zero", O_RDONLY | O_CLOEXEC); /* an event that counts nothing */
  memset(&target, 0, sizeof target);
  target.held.kind = HOLD_PERF;
  target.held.pid = getpid();
  target.held.start_ticks = stat.start_ticks;
  target.held.fd_count = 1;
  target.held.control = RING_RUN;
  target.fds = &fd;
  return fd < 0 ? -1 : 0;
}

static int unmake(void **state) {
  (void)state;
  close(fd);
  return 0;
}

static void events_that_count_nothing_of_a_busy_program_have_stopped(void **state) {
  (void)state;
  assert_null(ladder_look(&target, 1)); /* to begin with */
  burn_ms(200);
  assert_null(ladder_look(&target, 2)); /* too little to speak of */
  burn_ms(150);
  assert_string_equal(ladder_look(&target, 3), "its events count no more");
  assert_string_equal(target.look.stopped, "its events count no more");
  assert_non_null(ladder_look(&target, 4)); /* and so it stays */
}

static void a_paused_program_is_well_and_judged_anew_afterwards(void **state) {
  (void)state;
  assert_null(ladder_look(&target, 1));
  target.held.control = RING_PAUSE;
  burn_ms(350);
  assert_null(ladder_look(&target, 2));
  target.held.control = RING_RUN;
  assert_null(ladder_look(&target, 3)); /* time spent during the pause does not count */
  burn_ms(350);
  assert_non_null(ladder_look(&target, 4));
}

static void events_that_count_are_believed(void **state) {
  static struct perf_rings rings;
  int fds[INTAKE_FDS_MAX];
  struct perf_running self = {.count = 1};
  (void)state;
  perf_rings_open(&rings);
  if (rings.count == 0) skip(); /* this kernel gives none */
  self.processes[0].pid = target.held.pid;
  self.processes[0].start_ticks = target.held.start_ticks;
  target.held.uid = geteuid();
  target.held.period_ns = 1000000000;
  assert_null(perf_running_open(&rings, &self, &target.held, fds));
  target.fds = fds;
  perf_running_start(&target.held, fds);
  wait_ms = 1300;
  assert_null(ladder_look(&target, 1));
  wait_ms = 0;
  for (unsigned i = 2; i < 4; i++) {
    burn_ms(350);
    assert_null(ladder_look(&target, i));
  }
  for (unsigned i = 0; i < target.held.fd_count; i++) ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0);
  burn_ms(350);
  assert_non_null(ladder_look(&target, 4));
  for (unsigned i = 0; i < hold_fds(&target.held); i++) close(fds[i]);
  perf_rings_close(&rings);
}

static void events_that_hang_up_before_their_program_were_taken_away(void **state) {
  int ends[2];
  (void)state;
  assert_int_equal(pipe(ends), 0);
  close(ends[1]);
  close(fd);
  fd = ends[0];
  target.held.start_ticks++; /* the pid now belongs to another process: the target has ended, which
                                is no failure */
  assert_null(ladder_look(&target, 1));
  target.look.has_hung_up = false;
  target.held.start_ticks--;
  assert_null(ladder_look(&target, 2)); /* it may be about to exit */
  const char *why = ladder_look(&target, 3);
  assert_non_null(why);
  assert_non_null(strstr(why, "the kernel took its events away"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(events_that_count_nothing_of_a_busy_program_have_stopped,
                                      make, unmake),
      cmocka_unit_test_setup_teardown(a_paused_program_is_well_and_judged_anew_afterwards, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(events_that_count_are_believed, make, unmake),
      cmocka_unit_test_setup_teardown(events_that_hang_up_before_their_program_were_taken_away,
                                      make, unmake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
