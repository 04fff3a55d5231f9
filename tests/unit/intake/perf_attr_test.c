/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes that must agree so that one event's records can be redirected to another's ring. */
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
  perf_attr_ask(&target, PERF_CONTENT_PAIR);
  assert_int_equal(target.sample_type & PERF_ATTR_SAMPLE_HEAD, PERF_ATTR_SAMPLE_HEAD);
  assert_int_equal(target.sample_type & PERF_SAMPLE_CALLCHAIN, 0);
  assert_true(target.sample_type & PERF_SAMPLE_REGS_USER);
  assert_int_equal(__builtin_popcountll(target.sample_regs_user), perf_regs.count);
  assert_true(perf_regs.lr < (int)perf_regs.count);
  assert_true((perf_regs.lr == PERF_REGS_NO_LR) == (target.sample_stack_user > 0));
}

static void a_copy_is_what_half_a_ring_can_hold_at_the_rate(void **state) {
  (void)state;
  struct perf_event_attr attr;
  const struct {
    uint64_t hz;
    uint32_t bytes;
  } cases[] = {{1, 16384},   {99, 16384},  {512, 16384}, {797, 10520},
               {1024, 8184}, {4000, 2096}, {10000, 832}, {40000, 256}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    perf_attr_fill(&attr, 1000000000 / cases[i].hz);
    perf_attr_ask(&attr, PERF_CONTENT_COPY);
    assert_int_equal(attr.sample_stack_user, cases[i].bytes);
    assert_int_equal(attr.sample_regs_user, perf_walk_regs.mask);
    assert_true(attr.sample_type & PERF_SAMPLE_CALLCHAIN);
    assert_true(attr.exclude_callchain_kernel);
    assert_false(attr.exclude_callchain_user);
  }
}

static void samples_of_the_kernel_begin_with_its_own_callers(void **state) {
  (void)state;
  const enum perf_content callers[] = {PERF_CONTENT_CHAIN, PERF_CONTENT_PAIR, PERF_CONTENT_COPY,
                                       PERF_CONTENT_PC};
  for (size_t i = 0; i < sizeof callers / sizeof *callers; i++) {
    struct perf_event_attr attr;
    perf_attr_fill(&attr, PERIOD_NS);
    perf_attr_ask(&attr, callers[i] | PERF_CONTENT_KERNEL);
    assert_true(attr.sample_type & PERF_SAMPLE_CALLCHAIN);
    assert_false(attr.exclude_kernel || attr.exclude_callchain_kernel);
    assert_true(attr.exclude_hv);
    assert_int_equal(attr.exclude_callchain_user,
                     callers[i] == PERF_CONTENT_PAIR || callers[i] == PERF_CONTENT_PC);
    assert_int_equal((attr.sample_type & PERF_SAMPLE_STACK_USER) != 0,
                     callers[i] == PERF_CONTENT_COPY ||
                         (callers[i] == PERF_CONTENT_PAIR && perf_regs.lr == PERF_REGS_NO_LR));
    assert_int_equal(perf_content_callers(callers[i] | PERF_CONTENT_KERNEL), callers[i]);
  }
}

/* A caller that may not see the kernel is refused by the kernel itself. */
static void the_kernel_is_sampled_by_who_may_see_it(void **state) {
  (void)state;
  struct perf_event_attr attr;
  perf_attr_fill(&attr, PERIOD_NS);
  perf_attr_ask(&attr, PERF_CONTENT_COPY | PERF_CONTENT_KERNEL);
  int fd = perf_attr_open(&attr, 0, -1);
  assert_int_equal(perf_attr_may_see_kernel(), fd >= 0);
  if (fd >= 0) close(fd);
}

static void what_a_walk_begins_with_has_each_register_once(void **state) {
  (void)state;
  const struct perf_walk_regs *walk = &perf_walk_regs;
  const int places[] = {walk->pc, walk->sp, walk->lr, walk->tracked[0], walk->tracked[1]};
  uint64_t seen = 0;
  for (unsigned i = 0; i < walk->general_count; i++)
    if (walk->general[i] != PERF_REGS_NONE) seen |= UINT64_C(1) << walk->general[i];
  assert_int_equal(__builtin_popcountll(seen | UINT64_C(1) << walk->pc), walk->count);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (places[i] == PERF_REGS_NO_LR) continue;
    assert_in_range(places[i], 0, walk->count - 1);
    seen |= UINT64_C(1) << places[i];
  }
  assert_int_equal(seen, (UINT64_C(1) << walk->count) - 1);
  assert_int_equal(__builtin_popcountll(walk->mask), walk->count);
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
  int most = PERF_CONTENT_COPY | (perf_attr_may_see_kernel() ? PERF_CONTENT_KERNEL : 0);
  for (int content = PERF_CONTENT_CHAIN; content <= most; content++) {
    if (perf_content_callers((uint32_t)content) > PERF_CONTENT_COPY) continue;
    perf_attr_fill(&attr, PERIOD_NS);
    perf_attr_ask(&attr, (enum perf_content)content);
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
      cmocka_unit_test(a_copy_is_what_half_a_ring_can_hold_at_the_rate),
      cmocka_unit_test(samples_of_the_kernel_begin_with_its_own_callers),
      cmocka_unit_test(the_kernel_is_sampled_by_who_may_see_it),
      cmocka_unit_test(what_a_walk_begins_with_has_each_register_once),
      cmocka_unit_test(the_ends_of_tasks_are_told_on_all_cpus_in_records_of_one_size),
      cmocka_unit_test(a_target_is_redirected_into_an_anchors_ring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
