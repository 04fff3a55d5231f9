/* SPDX-License-Identifier: Apache-2.0 */
/* A timer's period is drawn again once a second, and which process may obey that. The process is
   this test's own, and so is the clock. */
#include "common/clock.h"
#include "proc/proc_stat.h"
#include "proc/proc_status.h"
#include "ring/ring_format.h"
#include "ring/ring_switch.h"
#include "ring/wide.h"
#include "targets/rate.h"
#include "targets/stride.h"
#include "targets/switch.h"
#include "targets/timer_ring.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define PERIOD_NS (10 * MS)

static uint64_t passed_ns;

uint64_t __wrap_clock_monotonic_ns(void);

uint64_t __wrap_clock_monotonic_ns(void) {
  return passed_ns;
}

static struct ring_header *header_of(const struct target *target) {
  return (struct ring_header *)(void *)target->ring.base;
}

/* This process has the first row of the ring, and timers for ARMED threads. */
static void claim_row(struct target *target, unsigned armed) {
  struct ring_process *row = &header_of(target)->processes[0];
  wide_store(&row->who, (uint64_t)getpid() << 32);
  atomic_store(&row->armed, armed);
}

static int open_target(void **state) {
  struct target *target = calloc(1, sizeof *target);
  struct proc_stat stat;
  struct proc_status status;
  if (target == NULL || proc_stat_read(getpid(), &stat) != 0) return -1;
  if (proc_status_read(getpid(), getpid(), &status) != 0) return -1;
  passed_ns = 1000 * NS_PER_SECOND;
  target->held = (struct hold_target){.kind = HOLD_TIMER,
                                      .pid = getpid(),
                                      .start_ticks = stat.start_ticks,
                                      .uid = getuid(),
                                      .filters = status.filters,
                                      .asked_mhz = 100000,
                                      .period_ns = PERIOD_NS};
  timer_ring_size(&target->held, 0);
  int fd = timer_ring_make(&target->held);
  if (fd < 0 || timer_ring_map(&target->held, fd, &target->ring) != 0) return -1;
  close(fd);
  claim_row(target, 1);
  stride_vary(target); /* its first second begins */
  *state = target;
  return 0;
}

static int close_target(void **state) {
  struct target *target = *state;
  timer_ring_unmap(&target->held, &target->ring);
  free(target->watches);
  rate_fini(&target->rate);
  free(target);
  return 0;
}

/* MS_PASSED later, with MORE samples: whether the process was sent another period. */
static bool is_varied_after(struct target *target, uint64_t ms_passed, unsigned more) {
  uint32_t serial = ring_switch_serial(&target->ring);
  passed_ns += ms_passed * MS;
  target->records += more;
  stride_vary(target);
  return ring_switch_serial(&target->ring) != serial;
}

static uint64_t period_of(const struct target *target) {
  return wide_load(&header_of(target)->period_ns);
}

static void a_timer_gets_another_period_once_a_second(void **state) {
  struct target *target = *state;
  uint64_t last_ns = period_of(target);
  assert_false(is_varied_after(target, 999, 1000));
  assert_true(is_varied_after(target, 1, 0));
  for (unsigned i = 0; i < 100; i++) {
    uint64_t now_ns = period_of(target);
    uint64_t off_ns = now_ns > PERIOD_NS ? now_ns - PERIOD_NS : PERIOD_NS - now_ns;
    assert_true(now_ns != last_ns && off_ns >= PERIOD_NS / 32 && off_ns <= PERIOD_NS / 16);
    last_ns = now_ns;
    assert_false(is_varied_after(target, 999, 99));
    assert_true(is_varied_after(target, 1, 1));
  }
}

/* A change may cost each other thread with a timer one sample. */
static void a_period_stays_while_samples_are_few(void **state) {
  struct target *target = *state;
  assert_false(is_varied_after(target, 5000, 9));
  assert_true(is_varied_after(target, 0, 1));
  claim_row(target, 3);
  assert_false(is_varied_after(target, 5000, 209));
  assert_true(is_varied_after(target, 0, 1));
}

static void a_histogram_and_a_paused_target_keep_their_period(void **state) {
  struct target *target = *state;
  target->held.collect = RING_HISTOGRAM;
  assert_false(is_varied_after(target, 5000, 1000));
  target->held.collect = RING_STACKS;
  target->held.control = RING_PAUSE;
  assert_false(is_varied_after(target, 5000, 1000));
  target->held.control = RING_RUN;
  assert_true(is_varied_after(target, 0, 0));
}

/* The process requests permission to obey the last change. */
static bool is_permitted_when_it_asks(struct target *target) {
  uint32_t serial = ring_switch_serial(&target->ring);
  struct ring_process_view view;
  atomic_store(&header_of(target)->processes[0].asked, serial);
  switch_step(target);
  ring_switch_look(&target->ring, 0, &view);
  return view.permitted == serial;
}

static void on_trap(int signal) {
  (void)signal;
}

/* It may trap system calls in a way that no check reveals; a period may then stay unchanged. */
static void who_catches_SIGSYS_is_not_asked_for_calls_for_a_mere_period(void **state) {
  struct target *target = *state;
  signal(SIGSYS, SIG_DFL); /* cmocka has a handler for it */
  assert_true(is_varied_after(target, 1000, 1000));
  assert_true(is_permitted_when_it_asks(target));
  signal(SIGSYS, on_trap);
  assert_true(is_varied_after(target, 1000, 1000));
  assert_false(is_permitted_when_it_asks(target));
  assert_int_equal(switch_target(target, RING_PAUSE), 0);
  assert_true(is_permitted_when_it_asks(target));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_target, close_target)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_timer_gets_another_period_once_a_second),
      CASE(a_period_stays_while_samples_are_few),
      CASE(a_histogram_and_a_paused_target_keep_their_period),
      CASE(who_catches_SIGSYS_is_not_asked_for_calls_for_a_mere_period),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
