/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a program of an earlier daemon becomes a target, or stays unchanged. */
#include "ladder_fixture.h"

#include "common/clock.h"
#include "common/log.h"
#include "daemon/kept_adopt.h"
#include "daemon/kept_files.h"
#include "daemon/kept_ship.h"
#include "daemon/sweep.h"
#include "targets/image.h"
#include "targets/rate.h"
#include "targets/timer_ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OLD_RUN = 5, OLD_ID = 7, LAST_VALUES = 62 };

static size_t mapped_bytes;
static void *mapped;

/* A recorder of PID, of a daemon that has ended. Only this process has mapped it, as its program
   would. Returns less than 0 if this file system cannot hold it. */
static int leave_of(pid_t pid, const struct hold_target *wanted) {
  struct hold_target held = held_of(pid);
  held.kind = HOLD_TIMER;
  held.collect = RING_RECORDER;
  held.id = OLD_ID;
  held.control = wanted->control;
  timer_ring_size_recorder(&held, LAST_VALUES, 0);
  int fd = kept_files_make(bench->settings.state_dir, OLD_RUN, &held);
  if (fd < 0) return fd;
  held.fd_count = 1;
  struct target *target = target_new(&held, &fd);
  assert_non_null(target);
  image_begin(target, NULL);
  if (wanted->wish_period_ns != 0)
    image_wish(target, (uint32_t)(1000 * NS_PER_SECOND / wanted->wish_period_ns));
  mapped_bytes = timer_ring_bytes(&target->held);
  target_free(target, false);
  mapped = mmap(NULL, mapped_bytes, PROT_READ, MAP_SHARED, fd, 0);
  assert_ptr_not_equal(mapped, MAP_FAILED);
  return fd;
}

static int leave(const struct hold_target *wanted) {
  return leave_of(getpid(), wanted);
}

static void end(int fd) {
  munmap(mapped, mapped_bytes);
  close(fd);
}

static struct target *only_target(void) {
  struct target *found = NULL;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = bench->worker.targets.rows[row];
    assert_true(target == NULL || found == NULL);
    if (target != NULL) found = target;
  }
  return found;
}

static unsigned held_by_keeper(void) {
  unsigned count = 0;
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) count += bench->keeper.held.entries[i] != NULL;
  return count;
}

static bool is_left_as_it_was(void) {
  struct kept_file *files = calloc(KEPT_FILES_MAX, sizeof *files);
  int count = kept_files_list(bench->settings.state_dir, files);
  bool is_same = count == 1 && files[0].run == OLD_RUN && files[0].id == OLD_ID;
  free(files);
  return is_same;
}

static void a_file_that_is_written_into_becomes_a_target(void **state) {
  const struct hold_target running = {.control = RING_RUN};
  (void)state;
  int fd = leave(&running);
  if (fd == -EOPNOTSUPP) skip();
  assert_true(fd >= 0);
  kept_adopt(&bench->worker);
  struct target *target = only_target();
  assert_non_null(target);
  assert_int_equal(target->held.pid, getpid());
  assert_string_equal(target->held.service, "shop");
  assert_int_equal(target->held.control, RING_RUN);
  assert_int_equal(held_by_keeper(), 1);
  assert_false(is_left_as_it_was());
  end(fd);
}

static void what_ctl_had_set_is_what_it_goes_on_with(void **state) {
  const struct hold_target asked = {.control = RING_PAUSE, .wish_period_ns = 50000000};
  (void)state;
  int fd = leave(&asked);
  if (fd == -EOPNOTSUPP) skip();
  assert_true(fd >= 0);
  kept_adopt(&bench->worker);
  struct target *target = only_target();
  assert_non_null(target);
  assert_int_equal(target->held.control, RING_PAUSE);
  assert_int_equal(rate_wish_mhz(target), 20000);
  assert_string_equal(rate_reason(target), "ctl");
  assert_in_range(rate_period_ns(target), 49900000, 50100000); /* to the ring's unit */
  assert_int_equal(target->held.period_ns, 10101010);
  end(fd);
}

/* While its program lives, the file stays; then its content is shipped. */
static void where_no_target_has_room_the_file_stays_for_later(void **state) {
  const struct hold_target running = {.control = RING_RUN};
  struct targets *targets = &bench->worker.targets;
  uint64_t used = targets->ring_bytes;
  (void)state;
  int fd = leave(&running);
  if (fd == -EOPNOTSUPP) skip();
  assert_true(fd >= 0);
  unsigned before = descriptors();
  targets->ring_bytes = TARGETS_RING_BYTES_MAX;
  kept_adopt(&bench->worker);
  assert_null(only_target());
  assert_int_equal(held_by_keeper(), 0);
  assert_int_equal(descriptors(), before);
  assert_true(is_left_as_it_was());
  kept_ship_left(&bench->worker.shipper, bench->settings.state_dir);
  assert_true(is_left_as_it_was());

  targets->ring_bytes = used;
  kept_adopt(&bench->worker);
  assert_non_null(only_target());
  end(fd);
}

static void where_the_keeper_takes_no_more_nothing_stays_open(void **state) {
  const struct hold_target running = {.control = RING_RUN};
  struct hold_table *table = &bench->keeper.held;
  (void)state;
  int fd = leave(&running);
  if (fd == -EOPNOTSUPP) skip();
  assert_true(fd >= 0);
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) {
    struct hold_target held = {.id = 1000 + i, .kind = HOLD_TIMER};
    assert_non_null(hold_table_add_take(table, &held, &fd));
  }
  unsigned before = descriptors();
  kept_adopt(&bench->worker);
  assert_null(only_target());
  assert_int_equal(descriptors(), before);
  hold_table_fini(table);
  kept_adopt(&bench->worker); /* it has this run's name by now, and no target */
  assert_non_null(only_target());
  end(fd);
}

static void a_file_that_nobody_has_is_not_taken_on(void **state) {
  const struct hold_target running = {.control = RING_RUN};
  (void)state;
  int fd = leave(&running);
  if (fd == -EOPNOTSUPP) skip();
  assert_true(fd >= 0);
  end(fd);
  kept_adopt(&bench->worker);
  assert_null(only_target());
  assert_true(is_left_as_it_was());
}

/* A pid in a file is no proof, so the mappings of that process must not be read. */
static void a_file_that_names_another_process_is_not_taken_on(void **state) {
  const struct hold_target running = {.control = RING_RUN};
  (void)state;
  int fd = leave_of(bench->program, &running);
  if (fd == -EOPNOTSUPP) skip();
  assert_true(fd >= 0);
  kept_adopt(&bench->worker);
  assert_null(only_target());
  assert_true(is_left_as_it_was());
  end(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, ladder_make, ladder_unmake)
      TEST(a_file_that_is_written_into_becomes_a_target),
      TEST(what_ctl_had_set_is_what_it_goes_on_with),
      TEST(where_no_target_has_room_the_file_stays_for_later),
      TEST(where_the_keeper_takes_no_more_nothing_stays_open),
      TEST(a_file_that_nobody_has_is_not_taken_on),
      TEST(a_file_that_names_another_process_is_not_taken_on),
  };
  log_set_level(LOG_LEVEL_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
