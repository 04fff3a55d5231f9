/* SPDX-License-Identifier: Apache-2.0 */
/* What must agree for one event's records to land in another's ring. */
#include "intake/perf_attr.h"
#include "intake/perf_regs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PERIOD_NS = 10000000, RING_BYTES = 2 * 4096 };

static void both_events_write_the_same_records(void **state) {
  (void)state;
  struct perf_event_attr target, anchor;
  perf_attr_fill(&target, PERIOD_NS);
  perf_attr_fill_anchor(&anchor);
  assert_int_equal(target.sample_type, PERF_ATTR_SAMPLE_TYPE);
  assert_int_equal(anchor.sample_type, target.sample_type);
  assert_int_equal(anchor.sample_id_all, target.sample_id_all);
  assert_int_equal(anchor.use_clockid, target.use_clockid);
  assert_int_equal(anchor.type, target.type);
  assert_int_equal(anchor.config, target.config);
}

static void a_target_is_sampled_from_its_exec_in_user_mode_with_all_it_starts(void **state) {
  (void)state;
  struct perf_event_attr target;
  perf_attr_fill(&target, PERIOD_NS);
  assert_int_equal(target.sample_period, PERIOD_NS);
  assert_true(target.disabled && target.enable_on_exec && target.inherit);
  assert_true(target.exclude_kernel && target.exclude_hv && target.exclude_callchain_kernel);
  assert_true(target.mmap2 && target.comm && target.task);
}

static void a_pair_is_asked_for_instead_of_a_chain(void **state) {
  (void)state;
  struct perf_event_attr target;
  perf_attr_fill(&target, PERIOD_NS);
  perf_attr_ask_pair(&target);
  assert_int_equal(target.sample_type & PERF_ATTR_SAMPLE_HEAD, PERF_ATTR_SAMPLE_HEAD);
  assert_int_equal(target.sample_type & PERF_SAMPLE_CALLCHAIN, 0);
  assert_true(target.sample_type & PERF_SAMPLE_REGS_USER);
  assert_int_equal(__builtin_popcountll(target.sample_regs_user), perf_regs.count);
  assert_true(perf_regs.lr < (int)perf_regs.count);
  assert_true((perf_regs.lr == PERF_REGS_NO_LR) == (target.sample_stack_user > 0));
}

static void the_ends_of_tasks_are_told_on_all_cpus_in_records_of_one_size(void **state) {
  (void)state;
  struct perf_event_attr anchor, exits;
  perf_attr_fill_exits_anchor(&anchor);
  perf_attr_fill_exits(&exits);
  assert_true(exits.inherit && exits.inherit_stat && exits.enable_on_exec);
  assert_false(exits.mmap || exits.comm || exits.task || exits.sample_period);
  assert_false(anchor.inherit); /* or its ring could not be mapped */
  int ring = perf_attr_open(&anchor, 0, -1), event = perf_attr_open(&exits, 0, -1);
  if (ring < 0) skip();
  assert_true(event >= 0);
  void *map = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
  assert_true(map != MAP_FAILED);
  assert_int_equal(ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, ring), 0);
  munmap(map, RING_BYTES);
  close(event);
  close(ring);
}

static void a_target_is_redirected_into_an_anchors_ring(void **state) {
  (void)state;
  struct perf_event_attr attr;
  perf_attr_fill_anchor(&attr);
  int anchor = perf_attr_open(&attr, 0, 0);
  if (anchor < 0) skip(); /* this machine allows no events at all */
  void *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, anchor, 0);
  assert_true(ring != MAP_FAILED);
  for (int is_pair = 0; is_pair < 2; is_pair++) {
    perf_attr_fill(&attr, PERIOD_NS);
    if (is_pair) perf_attr_ask_pair(&attr);
    int target = perf_attr_open(&attr, 0, 0);
    assert_true(target >= 0);
    assert_int_equal(ioctl(target, PERF_EVENT_IOC_SET_OUTPUT, anchor), 0);
    close(target);
  }
  munmap(ring, RING_BYTES);
  close(anchor);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_events_write_the_same_records),
      cmocka_unit_test(a_target_is_sampled_from_its_exec_in_user_mode_with_all_it_starts),
      cmocka_unit_test(a_pair_is_asked_for_instead_of_a_chain),
      cmocka_unit_test(the_ends_of_tasks_are_told_on_all_cpus_in_records_of_one_size),
      cmocka_unit_test(a_target_is_redirected_into_an_anchors_ring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
