/* SPDX-License-Identifier: Apache-2.0 */
/* A new worker's handling of a table whose perf events or rings have become invalid. */
#include "drain/target_state.h"
#include "perf/perf_ring.h"
#include "targets/targets.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { CPUS = 2 };

static struct hold_table held;
static struct perf_rings rings;
static struct targets targets;

/* A held perf target whose descriptors are no perf events. */
static int set_up(void **state) {
  (void)state;
  struct hold_target target = {.id = 7, .kind = HOLD_PERF, .pid = getpid(), .fd_count = CPUS};
  int fds[CPUS] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)};
  memset(&held, 0, sizeof held);
  memset(&rings, 0, sizeof rings);
  snprintf(target.why, sizeof target.why, "asked for by name");
  return hold_table_add_take(&held, &target, fds) != NULL ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  targets_fini(&targets); /* closes the table's too: in one process they are the same */
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) free(held.entries[i]);
  return 0;
}

static void a_target_whose_events_went_bad_is_kept_and_says_so(void **state) {
  (void)state;
  char why[256];
  rings.count = CPUS;
  targets_restore(&targets, &held, &rings);
  const struct target *target = targets_find(&targets, 7);
  assert_non_null(target);
  assert_string_equal(target_sampler(target), "none");
  assert_true(target_none_since_ns(target) > 0);
  target_explain(target, why, sizeof why);
  assert_string_equal(why, "not sampled any more by 2 of 2 events: perf: an event went bad; "
                           "asked for by name");
  assert_null(targets_find_event(&targets, 0, NULL));
}

static void a_ring_that_cannot_be_mapped_again_is_the_reason(void **state) {
  (void)state;
  char why[256];
  snprintf(rings.why, sizeof rings.why, "mapping a perf ring again: Cannot allocate memory");
  targets_restore(&targets, &held, &rings);
  const struct target *target = targets_find(&targets, 7);
  assert_non_null(target);
  assert_string_equal(target_sampler(target), "none");
  target_explain(target, why, sizeof why);
  assert_non_null(strstr(why, "perf: mapping a perf ring again: Cannot allocate memory"));
}

static void mapping_bad_descriptors_again_fails_with_a_reason(void **state) {
  (void)state;
  rings.count = 1;
  rings.pages = PERF_RING_PAGES_MIN;
  /* A forked worker does not have the keeper's mapping; another mapping may be at its address. */
  size_t bytes = (PERF_RING_PAGES_MIN + 1) * (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *other = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  rings.cpus[0].map = other;
  rings.cpus[0].fd = open("/dev/null", O_RDONLY);
  perf_rings_map(&rings);
  assert_int_equal(rings.count, 0);
  assert_int_equal(msync(other, bytes, MS_ASYNC), 0); /* it still exists */
  munmap(other, bytes);
  assert_non_null(strstr(rings.why, "mapping a perf ring again: "));
  targets_restore(&targets, &held, &rings);
  assert_string_equal(target_sampler(targets_find(&targets, 7)), "none");
}

static void a_new_target_must_have_good_events(void **state) {
  (void)state;
  int fds[CPUS] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)};
  struct hold_target target = {.id = 8, .kind = HOLD_PERF, .pid = getpid(), .fd_count = CPUS};
  rings.count = CPUS;
  targets_restore(&targets, &held, &rings);
  assert_null(targets_add_take(&targets, &target, fds));
  for (unsigned i = 0; i < CPUS; i++) close(fds[i]);
}

static void reading_the_time_of_bad_events_leaves_what_is_known(void **state) {
  (void)state;
  rings.count = CPUS;
  targets_restore(&targets, &held, &rings);
  struct target *target = targets_find(&targets, 7);
  residual_hear(&target->residual, 5000);
  target_read_total(target);
  assert_int_equal(target->residual.total_ns, 5000);
  assert_int_equal(target->bad_events, CPUS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_target_whose_events_went_bad_is_kept_and_says_so),
      TEST(a_ring_that_cannot_be_mapped_again_is_the_reason),
      TEST(mapping_bad_descriptors_again_fails_with_a_reason),
      TEST(a_new_target_must_have_good_events),
      TEST(reading_the_time_of_bad_events_leaves_what_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
