/* SPDX-License-Identifier: Apache-2.0 */
/* Retention makes progress during continuous queries, and deletes no data that damage has left in a
   single copy. */
#include "day_fixture.h"

#include "common/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static _Atomic uint64_t judged_ns; /* 0: the wall clock */

uint64_t __wrap_clock_judged_ns(void);

uint64_t __wrap_clock_judged_ns(void) {
  return judged_ns != 0 ? judged_ns : clock_walltime_ns();
}

enum { HOURS = 5, READERS = 2 };

/* Of samples in the whole hours from FROM on, by hours. */
static struct sums sums_of(struct store *store, unsigned from, unsigned to) {
  struct sums sums = {0};
  const struct store_scan scan = {.from_ms = NOON_MS + from * 3600000ULL,
                                  .to_ms = NOON_MS + to * 3600000ULL,
                                  .types = SAMPLE_SET_CPU,
                                  .matches = want_all,
                                  .on_block = add_block,
                                  .context = &sums};
  assert_int_equal(store_scan(store, &scan), 0);
  return sums;
}

static void read_by_hour(struct store *store, struct sums ret[HOURS]) {
  for (unsigned i = 0; i < HOURS; i++) ret[i] = sums_of(store, i, i + 1);
}

static void assert_same_hours(struct store *store, const struct sums before[HOURS]) {
  struct sums now[HOURS];
  read_by_hour(store, now);
  for (unsigned i = 0; i < HOURS; i++) {
    assert_int_equal(now[i].count, before[i].count);
    assert_int_equal(now[i].weight, before[i].weight);
  }
}

/* ---- questions without end ---- */

static struct {
  struct store *store;
  _Atomic unsigned begun, ended;
  _Atomic bool is_over;
} questions;

/* Reads on until the other reads, too, or for 50 ms: so there is always one that reads, unless they
   are held up. */
static int read_on(void *context, const struct store_series *series,
                   const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                   const struct store_row *rows, size_t count) {
  unsigned *seen = context;
  (void)series, (void)forest, (void)start_ms, (void)end_ms, (void)rows, (void)count;
  if (*seen != 0) return 0;
  *seen = ++questions.begun;
  for (unsigned i = 0; i < 50 && questions.begun == *seen && !questions.is_over; i++)
    nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
  return 0;
}

static int want_every(void *context, const struct store_series *series) {
  (void)context, (void)series;
  return 1;
}

static void *ask_always(void *context) {
  while (!questions.is_over) {
    unsigned seen = 0;
    const struct store_scan scan = {.to_ms = UINT64_MAX,
                                    .types = SAMPLE_SET_CPU,
                                    .matches = want_every,
                                    .on_block = read_on,
                                    .context = &seen};
    assert_int_equal(store_scan(questions.store, &scan), 0);
    questions.ended++;
  }
  return context;
}

static void windows_go_though_somebody_always_reads(void **state) {
  struct world *world = *state;
  pthread_t threads[READERS];
  append_hours(world, "b1", HOURS);
  struct sums before[HOURS];
  read_by_hour(world->store, before);
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(count_windows(world), 150);
  questions.store = world->store;
  for (unsigned i = 0; i < READERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, ask_always, NULL), 0);
  while (questions.begun < 10) nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
  unsigned ended = questions.ended;
  uint64_t start_ns = clock_monotonic_ns();
  assert_int_equal(retain_by_age(world, NOON_MS + 9000000, 0), 0); /* half past two */
  uint64_t took_ms = (clock_monotonic_ns() - start_ns) / NS_PER_MS;
  assert_true(questions.ended >= ended + 10); /* they go on between one five minutes and the next */
  questions.is_over = true;
  for (unsigned i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
  assert_int_equal(count_windows(world), 75);
  assert_same_hours(world->store, before);
  print_message("25 five minutes went in %llu ms, %u questions were answered meanwhile\n",
                (unsigned long long)took_ms, questions.ended - ended);
}

/* ---- damaged sums ---- */

static void damage(struct world *world, enum day_kind kind) {
  char path[DAY_PATH_BYTES];
  day_folder_path(world->dir, kind, day_of(NOON_MS), path);
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  for (off_t at = 4096; at < 200000; at += 512)
    if (pwrite(fd, "damaged damaged damaged", 23, at) != 23) fail();
  close(fd);
  sums_of(world->store, 0, HOURS); /* finds it, and sets it aside */
  assert_false(has_file(world, kind));
}

/* When windows have gone, whole or in part, five minutes alone can tell; these stay until hours
   have them again. */
static void hours_are_made_anew_of_five_minutes(void **state) {
  struct world *world = *state;
  static const uint64_t windows_ms[] = {NOON_MS + 9000000, UINT64_MAX / 2};
  struct sums before[HOURS];
  append_hours(world, "b1", HOURS);
  read_by_hour(world->store, before);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(store_roll(world->store), 0);
    assert_int_equal(retain_by_age(world, windows_ms[i], 0), 0);
    assert_true(has_file(world, DAY_WINDOWS) == (i == 0));
    damage(world, DAY_HOURS);
    assert_same_hours(world->store, before);
    assert_int_equal(retain_by_age(world, windows_ms[i], UINT64_MAX / 2), 0);
    assert_true(has_file(world, DAY_MINUTES)); /* though their time is over */
    assert_int_equal(store_roll(world->store), 0);
    assert_true(has_file(world, DAY_HOURS));
    assert_same_hours(world->store, before);
    append_new(world->store, "b1", 1, 100 + i, NOON_MS + 1000); /* late */
    read_by_hour(world->store, before);
    assert_int_equal(store_roll(world->store), 0);
    assert_same_hours(world->store, before);
  }
  assert_int_equal(retain_by_age(world, UINT64_MAX / 2, UINT64_MAX / 2), 0);
  assert_false(has_file(world, DAY_WINDOWS));
  assert_false(has_file(world, DAY_MINUTES));
  assert_same_hours(world->store, before);
  assert_true(before[0].weight > before[1].weight);
}

/* Batches after the deletion of windows are in a new file of windows. */
static void hours_are_made_anew_beside_windows_that_were_begun_anew(void **state) {
  struct world *world = *state;
  struct sums before[HOURS];
  append_hours(world, "b1", HOURS);
  read_by_hour(world->store, before);
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(retain_by_age(world, UINT64_MAX / 2, 0), 0);
  append_new(world->store, "b1", 1, 100, NOON_MS + 1000);
  append_new(world->store, "b1", 1, 101, NOON_MS + 2 * 3600000 + 1000);
  read_by_hour(world->store, before);
  assert_true(has_file(world, DAY_WINDOWS));
  damage(world, DAY_HOURS);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(store_roll(world->store), 0);
    assert_same_hours(world->store, before);
    append_new(world->store, "b1", 1, 110 + i, NOON_MS + 3 * 3600000 + 1000);
    read_by_hour(world->store, before);
  }
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(retain_by_age(world, UINT64_MAX / 2, UINT64_MAX / 2), 0);
  assert_false(has_file(world, DAY_MINUTES));
  assert_same_hours(world->store, before);
  struct sums half = scan_range(world->store, NOON_MS, NOON_MS + 3600000 / 2 + 1);
  assert_int_equal(half.weight, before[0].weight); /* an hour whole: none could tell of half */
}

/* Losses are in windows for as long as there are any. */
static void losses_are_told_again_as_far_as_windows_tell_them(void **state) {
  struct world *world = *state;
  struct made_batch made;
  uint64_t loss[LOSS_REASON_COUNT] = {0};
  append_hours(world, "b1", HOURS);
  make_batch(&made, 2, 1);
  made.batch.counters.dropped[LOSS_RING_FULL] = 70;
  made.batch.counters.produced += 70;
  seal_batch(&made);
  struct store_append append = append_of(&made, "b1", NOON_MS + 4000);
  assert_int_equal(store_append(world->store, &append, 1), 0);
  free_batch(&made);
  sums_of(world->store, 0, HOURS); /* waits until all has settled */
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(retain_by_age(world, NOON_MS + 9000000, 0), 0);
  damage(world, DAY_HOURS);
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(retain_by_age(world, UINT64_MAX / 2, UINT64_MAX / 2), 0);
  assert_false(has_file(world, DAY_WINDOWS));
  assert_int_equal(store_loss_in_range(world->store, ONLY("b1"), 0, UINT64_MAX, NULL, loss), 0);
  assert_int_equal(loss[LOSS_RING_FULL], 70);
}

/* Whether there are windows of the day at MS. */
static bool has_day_at(struct world *world, uint64_t ms) {
  return day_folder_bytes(world->dir, DAY_WINDOWS, day_of(ms)) > 0;
}

static void settle_a_batch(struct world *world, uint64_t seq, uint64_t start_ms) {
  append_new(world->store, "b1", 1, seq, start_ms);
  sums_of(world->store, 0, HOURS);
}

static void days_that_cannot_be_make_room_first_and_the_one_being_written_never(void **state) {
  struct world *world = *state;
  uint64_t now_ms = clock_judged_ns() / NS_PER_MS, ahead_ms = now_ms + 1000ULL * DAY_MS;
  const struct store_keep keep = {.max_bytes = 1};
  struct store_keep some = {0};
  for (unsigned i = 0; i < 4; i++) settle_a_batch(world, i + 1, ahead_ms + i * DAY_MS);
  settle_a_batch(world, 5, NOON_MS);
  settle_a_batch(world, 6, NOON_MS + DAY_MS);
  for (unsigned i = 0; i < 4; i++) /* the other two are as large as two of these */
    some.max_bytes += day_folder_bytes(world->dir, DAY_WINDOWS, day_of(ahead_ms) + i);
  assert_int_equal(store_retain(world->store, &some), 0);
  assert_false(has_day_at(world, ahead_ms));
  assert_true(has_day_at(world, NOON_MS));
  judged_ns = NS_PER_SECOND; /* in 1970 boards place by their own clocks */
  assert_int_equal(store_retain(world->store, &keep), 0);
  judged_ns = 0;
  assert_false(has_day_at(world, NOON_MS));
  assert_true(has_day_at(world, NOON_MS + DAY_MS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(windows_go_though_somebody_always_reads),
      TEST(hours_are_made_anew_of_five_minutes),
      TEST(hours_are_made_anew_beside_windows_that_were_begun_anew),
      TEST(losses_are_told_again_as_far_as_windows_tell_them),
      TEST(days_that_cannot_be_make_room_first_and_the_one_being_written_never),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
