/* SPDX-License-Identifier: Apache-2.0 */
/* Summing up loses nothing and counts nothing twice, for every order of batches and every kill. */
#include "told_fixture.h"

#include "common/table.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static void keep_only(struct world *world, uint64_t windows_ms, uint64_t minutes_ms) {
  assert_int_equal(retain_by_age(world, windows_ms, minutes_ms), 0);
}

static void sums_say_what_windows_said_to_the_nanosecond(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 3);
  struct told *before =
      scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .grain_ms = 1});
  assert_int_equal(store_roll(world->store), 0);
  struct told *after = tell_all(world->store);
  assert_same(before, after);
  assert_int_equal(before->longest_ms, 10000);
  assert_int_equal(after->longest_ms, DAY_MS);
  assert_int_equal(after->blocks, 3); /* names of three threads */
  struct told *hours =
      scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .grain_ms = TIER_HOUR_MS});
  assert_same(before, hours);
  assert_int_equal(hours->blocks, 9);
  struct told *minutes =
      scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .grain_ms = TIER_MINUTES_MS});
  assert_same(before, minutes);
  assert_int_equal(minutes->longest_ms, TIER_MINUTES_MS);
  free(before), free(after), free(hours), free(minutes);
}

static void sums_stay_when_windows_and_minutes_go(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 3);
  struct told *before = tell_all(world->store);
  keep_only(world, UINT64_MAX / 2, UINT64_MAX / 2);
  assert_true(has_file(world, DAY_WINDOWS)); /* in no sum yet */
  assert_int_equal(store_roll(world->store), 0);
  keep_only(world, UINT64_MAX / 2, 0);
  assert_false(has_file(world, DAY_WINDOWS));
  assert_true(has_file(world, DAY_MINUTES));
  struct told *half =
      scan_as(world->store, (struct store_scan){.from_ms = NOON_MS + 600000, .to_ms = UINT64_MAX});
  struct told *rest = scan_as(world->store, (struct store_scan){.to_ms = NOON_MS + 600000});
  assert_int_equal(half->weight + rest->weight, before->weight);
  assert_true(rest->weight > 0 && rest->weight < before->weight / 10);
  keep_only(world, UINT64_MAX / 2, UINT64_MAX / 2);
  assert_false(has_file(world, DAY_MINUTES));
  struct told *after = tell_all(world->store);
  assert_same(before, after);
  free(before), free(after), free(half), free(rest);
}

static void what_comes_late_is_added_once_wherever_windows_are(void **state) {
  struct world *world = *state;
  struct made_batch made;
  append_hours(world, "b1", 2);
  assert_int_equal(store_roll(world->store), 0);
  for (uint64_t seq = 100; seq < 106; seq++) {
    struct told *before = tell_all(world->store);
    append_new(world->store, "b1", 1, seq, NOON_MS + (seq - 100) * 500000);
    make_batch(&made, 1, seq);
    struct told *unrolled = tell_all(world->store);
    assert_int_equal(unrolled->weight, before->weight + made.weight);
    struct told *some =
        scan_as(world->store, (struct store_scan){.from_ms = NOON_MS, .to_ms = NOON_MS + 3600000});
    if (seq % 2 == 0) assert_int_equal(store_roll(world->store), 0);
    if (seq % 2 == 0) assert_int_equal(store_roll(world->store), 0); /* again: nothing is new */
    struct told *rolled = tell_all(world->store);
    struct told *same =
        scan_as(world->store, (struct store_scan){.from_ms = NOON_MS, .to_ms = NOON_MS + 3600000});
    assert_same(unrolled, rolled);
    assert_same(some, same);
    if (seq == 102) keep_only(world, UINT64_MAX / 2, 0); /* the file is begun again */
    if (seq == 104) keep_only(world, UINT64_MAX / 2, UINT64_MAX / 2);
    free(before), free(unrolled), free(rolled), free(some), free(same);
  }
  assert_true(has_file(world, DAY_WINDOWS));
  assert_false(has_file(world, DAY_MINUTES)); /* it could not be complete */
  assert_int_equal(store_roll(world->store), 0);
  assert_false(has_file(world, DAY_MINUTES));
}

static void days_stay_when_hours_go(void **state) {
  struct world *world = *state;
  struct made_batch made;
  const struct store_keep keep = {
      .windows_ms = UINT64_MAX / 2, .minutes_ms = UINT64_MAX / 2, .hours_ms = UINT64_MAX / 2};
  append_hours(world, "b1", 3);
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(store_retain(world->store, &keep), 0);
  for (unsigned round = 0; round < 3; round++) {
    struct told *after =
        scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .grain_ms = TIER_HOUR_MS});
    assert_same(before, after);
    assert_int_equal(after->longest_ms, DAY_MS);
    append_new(world->store, "b1", 1, 100 + round, NOON_MS + round * 3600000);
    make_batch(&made, 1, 100 + round);
    free(before);
    before = tell_all(world->store);
    assert_int_equal(before->weight, after->weight + made.weight);
    if (round > 0) assert_int_equal(store_roll(world->store), 0);
    if (round > 0) assert_int_equal(store_retain(world->store, &keep), 0);
    free(after);
  }
  free(before);
}

static void samples_of_unlike_weight_stay_apart_in_sums(void **state) {
  struct world *world = *state;
  struct made_batch made;
  for (uint64_t seq = 1; seq <= 20; seq++) { /* the rate is lowered a hundredfold halfway */
    make_batch(&made, 1, seq);
    for (uint32_t i = 0; i < FIXTURE_SAMPLES && seq > 10; i++) made.samples[i].weight *= 100;
    seal_batch(&made);
    struct store_append append = append_of(&made, "b1", NOON_MS + seq * 60000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
  }
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  struct told *after = tell_all(world->store);
  assert_same(before, after);
  assert_true(evidence_trials(&after->evidence) < (double)after->count * 0.6);
  free(before), free(after);
}

static void sums_beyond_a_column_stand_in_several_blocks(void **state) {
  const struct store_keep keep = {.windows_ms = NOON_MS + DAY_MS};
  struct world *world = *state;
  struct made_batch made;
  for (uint64_t seq = 1; seq <= 6; seq++) { /* half of them are added to an existing sum */
    make_batch(&made, 1, seq);
    made.samples[seq % 2].weight = UINT64_C(1) << 61;
    seal_batch(&made);
    struct store_append append = append_of(&made, "b1", NOON_MS + seq * 60000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
    if (seq == 3) assert_int_equal(store_roll(world->store), 0);
  }
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(store_retain(world->store, &keep), 0);
  struct told *after = tell_all(world->store);
  assert_same(before, after);
  assert_true(after->weight > 3 * (UINT64_C(1) << 62)); /* and not beyond 64 bits */
  free(before), free(after);
}

static void windows_of_unlike_marks_stay_apart_in_sums(void **state) {
  struct world *world = *state;
  struct made_batch made;
  for (uint64_t seq = 1; seq <= 4; seq++) {
    make_batch(&made, 1, seq);
    made.target.marks = seq % 2 == 0 ? MARK_ENDS_TOLD : MARK_STALE_RATE;
    seal_batch(&made);
    struct store_append append = append_of(&made, "b1", NOON_MS + seq * 60000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
  }
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  struct told *after = tell_all(world->store);
  assert_same(before, after);
  assert_int_equal(after->blocks, 6); /* three series, two kinds of marks */
  assert_int_equal(after->marks, before->marks);
  free(before), free(after);
}

/* The sum is read without the rows, which may be gone. */
static void a_block_says_what_its_rows_weigh(void **state) {
  struct world *world = *state;
  static const uint64_t grains_ms[] = {1, TIER_MINUTES_MS, TIER_HOUR_MS};
  struct told *rows[3];
  char path[DAY_PATH_BYTES];
  append_hours(world, "b1", 2);
  append_hours(world, "b2", 2);
  free(tell_all(world->store));
  assert_int_equal(store_roll(world->store), 0);
  for (unsigned i = 0; i < 3; i++)
    rows[i] =
        scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .grain_ms = grains_ms[i]});
  store_close(world->store);
  for (enum day_kind kind = 0; kind < DAY_KINDS; kind++) {
    day_folder_path(world->dir, kind, day_of(NOON_MS), path);
    change_file(path, "UPDATE block SET bytes=x'00'");
  }
  open_store(world);
  for (unsigned i = 0; i < 3; i++) {
    struct told *sums = scan_as(
        world->store,
        (struct store_scan){.to_ms = UINT64_MAX, .grain_ms = grains_ms[i], .sums_will_do = true});
    assert_int_equal(sums->count, rows[i]->count);
    assert_int_equal(sums->weight, rows[i]->weight);
    assert_int_equal(sums->blocks, rows[i]->blocks);
    assert_int_equal(sums->longest_ms, rows[i]->longest_ms);
    assert_true(sums->weight > 0);
    free(sums), free(rows[i]);
  }
}

static void assert_told(struct world *world, const struct told *expected) {
  static const uint64_t grains_ms[] = {0, 1, TIER_MINUTES_MS, TIER_HOUR_MS, DAY_MS};
  for (unsigned i = 0; i < sizeof grains_ms / sizeof *grains_ms; i++) {
    struct store_scan wish = {.to_ms = UINT64_MAX, .grain_ms = grains_ms[i]};
    struct told *told = scan_as(world->store, wish);
    assert_same(expected, told);
    free(told);
  }
}

/* Of 50 windows with three blocks each the older ones are deleted. Late batches for them are
   counted once: before they are summed up, after that, and after the windows are deleted. */
static void windows_go_as_the_day_goes_on(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 5);
  struct told *before = tell_all(world->store);
  keep_only(world, NOON_MS + 9000000, 0);
  assert_int_equal(count_windows(world), 150); /* they are in no sum yet */
  assert_int_equal(store_roll(world->store), 0);
  keep_only(world, NOON_MS + 9000000, 0); /* half past two */
  assert_int_equal(count_windows(world), 75);
  assert_told(world, before);
  for (unsigned round = 0; round < 3; round++) {
    append_new(world->store, "b1", 1, 100 + round, NOON_MS + 1000 + round * 4000000);
    free(before);
    before = tell_all(world->store);
    assert_told(world, before);
    assert_int_equal(store_roll(world->store), 0);
    assert_told(world, before);
    keep_only(world, NOON_MS + 9000000, 0);
    assert_int_equal(count_windows(world), 76); /* with the one whose id is the largest */
    assert_told(world, before);
    reopen_store(world);
  }
  free(before);
}

/* They would be incomplete: the hours have the deleted windows, too. */
static void five_minutes_are_not_begun_where_windows_are_gone(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 5);
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  keep_only(world, NOON_MS + 9000000, 0);
  store_close(world->store);
  assert_int_equal(day_folder_remove(world->dir, DAY_MINUTES, day_of(NOON_MS)), 0);
  open_store(world);
  assert_int_equal(store_roll(world->store), 0);
  assert_false(has_file(world, DAY_MINUTES));
  assert_told(world, before);
  free(before);
}

/* Ids continue after all windows are deleted. */
static void what_comes_when_all_windows_are_gone_counts(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 2);
  free(tell_all(world->store));
  assert_int_equal(store_roll(world->store), 0);
  keep_only(world, NOON_MS + 6 * 3600000, 0);
  assert_int_equal(count_windows(world), 1); /* whose id is the largest */
  for (unsigned round = 0; round < 2; round++) {
    append_new(world->store, "b1", 1, 100 + round, NOON_MS + 1000 + round * 3600000);
    struct told *before = tell_all(world->store);
    assert_int_equal(before->weight > 0, 1);
    assert_told(world, before);
    assert_int_equal(store_roll(world->store), 0);
    assert_told(world, before);
    free(before);
  }
}

/* A damaged file claims windows of another day, which cannot be deleted from it. */
static void a_damaged_file_does_not_keep_retention_busy(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES];
  append_hours(world, "b1", 2);
  free(tell_all(world->store));
  day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path);
  change_file(path, "INSERT INTO newest SELECT max(bucket)+288000,1 FROM newest");
  assert_int_equal(store_roll(world->store), 0);
  alarm(60);
  keep_only(world, NOON_MS + 6 * 3600000, 0);
  alarm(0);
}

/* Windows cannot be deleted from a file that cannot be written (full disk, another program's lock);
   whole files can. */
static void files_go_though_windows_cannot(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {.windows_ms = NOON_MS + DAY_MS + 3600000, .max_bytes = 1};
  char path[DAY_PATH_BYTES];
  sqlite3 *db = NULL;
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 2, NOON_MS + DAY_MS);
  free(tell_all(world->store));
  assert_int_equal(store_roll(world->store), 0);
  day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS) + 1, path);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(store_retain(world->store, &keep), -EBUSY);
  sqlite3_close(db);
  for (unsigned kind = 0; kind < DAY_KINDS; kind++)
    assert_false(has_file(world, (enum day_kind)kind));
}

static void losses_stay_by_the_hour_when_windows_go(void **state) {
  struct world *world = *state;
  struct made_batch made;
  uint64_t loss[LOSS_REASON_COUNT] = {0}, hour[LOSS_REASON_COUNT] = {0};
  for (uint64_t seq = 1; seq <= 3; seq++) {
    make_batch(&made, 1, seq);
    made.batch.counters.dropped[LOSS_RING_FULL] = seq * 10;
    made.batch.counters.produced += seq * 10;
    seal_batch(&made);
    struct store_append append = append_of(&made, "b1", NOON_MS + seq * 3600000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
  }
  assert_int_equal(store_loss_in_range(world->store, NULL, 0, UINT64_MAX, NULL, loss), 0);
  assert_int_equal(loss[LOSS_RING_FULL], 30);
  for (unsigned round = 0; round < 2; round++) {
    free(tell_all(world->store)); /* waits until all has settled */
    assert_int_equal(store_roll(world->store), 0);
    keep_only(world, UINT64_MAX / 2, UINT64_MAX / 2);
    assert_false(has_file(world, DAY_WINDOWS));
    memset(loss, 0, sizeof loss);
    memset(hour, 0, sizeof hour);
    assert_int_equal(store_loss_in_range(world->store, ONLY("b1"), 0, UINT64_MAX, NULL, loss), 0);
    assert_int_equal(store_loss_in_range(world->store, NULL, NOON_MS + 2 * 3600000,
                                         NOON_MS + 3 * 3600000, NULL, hour),
                     0);
    assert_int_equal(loss[LOSS_RING_FULL], 30 + 7 * round);
    assert_int_equal(hour[LOSS_RING_FULL], 10);
    make_batch(&made, 2, 1 + round); /* another run, and late */
    made.batch.counters.dropped[LOSS_RING_FULL] = 7;
    made.batch.counters.produced += 7;
    seal_batch(&made);
    struct store_append append = append_of(&made, "b1", NOON_MS + 3600000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
  }
}

static void damage(struct world *world, enum day_kind kind) {
  char path[DAY_PATH_BYTES];
  day_folder_path(world->dir, kind, day_of(NOON_MS), path);
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  for (off_t at = 4096; at < 200000; at += 512)
    if (pwrite(fd, "damaged damaged damaged", 23, at) != 23) fail();
  close(fd);
}

static void hours_that_are_damaged_hide_no_minutes(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 3);
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  keep_only(world, NOON_MS + 5400000, 0); /* half of the windows go */
  damage(world, DAY_HOURS);
  free(scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX})); /* finds it */
  for (unsigned i = 0; i < 3; i++) store_roll(world->store);
  assert_told(world, before);
  keep_only(world, UINT64_MAX / 2, UINT64_MAX / 2);
  assert_false(has_file(world, DAY_MINUTES)); /* hours have them now */
  assert_told(world, before);
  free(before);
}

static void a_damaged_sum_is_made_anew_from_windows(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 2);
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  for (unsigned kind = DAY_MINUTES; kind < DAY_KINDS; kind++) damage(world, (enum day_kind)kind);
  free(scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX})); /* finds it */
  free(scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX}));
  for (unsigned i = 0; i < 3; i++) store_roll(world->store);
  struct told *after = tell_all(world->store);
  assert_same(before, after);
  assert_int_equal(after->longest_ms, DAY_MS);
  free(before), free(after);
}

static void a_day_that_an_older_program_left_is_summed_up(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES];
  append_hours(world, "b1", 2);
  struct told *before = tell_all(world->store);
  store_close(world->store);
  day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path);
  change_file(path, "DROP TABLE newest; DROP TABLE self; DROP TABLE pruned; PRAGMA user_version=2");
  open_store(world);
  struct told *old = tell_all(world->store);
  assert_same(before, old);
  assert_int_equal(store_roll(world->store), 0);
  struct told *after = tell_all(world->store);
  assert_same(before, after);
  assert_int_equal(after->longest_ms, DAY_MS);
  free(before), free(old), free(after);
}

/* Opens DIR's store, sums up, and deletes windows before WINDOWS_MS. */
static void roll_and_end(const char *dir, uint64_t windows_ms) {
  const struct store_keep keep = {.windows_ms = windows_ms};
  struct store *store = NULL;
  char error[256];
  if (store_open(dir, &store, error, sizeof error) != 0) _exit(1);
  _exit(store_roll(store) == 0 && store_retain(store, &keep) == 0 ? 0 : 2);
}

static void killing_it_anywhere_loses_and_doubles_nothing(void **state) {
  struct world *world = *state;
  enum { ROUNDS = 40, MAX_US = 60000 };
  unsigned killed = 0;
  srand((unsigned)time(NULL));
  append_hours(world, "b1", 5);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    append_new(world->store, "b1", 1, 100 + round, NOON_MS + (round * 997 % 300) * 60000);
    struct told *before = tell_all(world->store);
    if (round % 2 == 1)
      assert_int_equal(store_roll(world->store), 0); /* then windows are only deleted */
    store_close(world->store);
    if (round % 4 == 3 && has_file(world, DAY_MINUTES)) /* hours are damaged */
      assert_int_equal(day_folder_remove(world->dir, DAY_HOURS, day_of(NOON_MS)), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) roll_and_end(world->dir, NOON_MS + (1 + round % 5) * 3600000);
    struct timespec delay = {.tv_nsec = rand() % MAX_US * 1000L};
    nanosleep(&delay, NULL);
    kill(child, SIGKILL);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    killed += WIFSIGNALED(status);
    open_store(world);
    assert_told(world, before);
    if (round % 5 == 4) keep_only(world, UINT64_MAX / 2, round % 10 == 9 ? UINT64_MAX / 2 : 0);
    struct told *kept = tell_all(world->store);
    assert_same(before, kept);
    free(before), free(kept);
  }
  print_message("%u of %d killed\n", killed, ROUNDS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(sums_say_what_windows_said_to_the_nanosecond),
      TEST(sums_stay_when_windows_and_minutes_go),
      TEST(what_comes_late_is_added_once_wherever_windows_are),
      TEST(days_stay_when_hours_go),
      TEST(samples_of_unlike_weight_stay_apart_in_sums),
      TEST(sums_beyond_a_column_stand_in_several_blocks),
      TEST(windows_of_unlike_marks_stay_apart_in_sums),
      TEST(a_block_says_what_its_rows_weigh),
      TEST(windows_go_as_the_day_goes_on),
      TEST(five_minutes_are_not_begun_where_windows_are_gone),
      TEST(what_comes_when_all_windows_are_gone_counts),
      TEST(a_damaged_file_does_not_keep_retention_busy),
      TEST(files_go_though_windows_cannot),
      TEST(losses_stay_by_the_hour_when_windows_go),
      TEST(hours_that_are_damaged_hide_no_minutes),
      TEST(a_damaged_sum_is_made_anew_from_windows),
      TEST(a_day_that_an_older_program_left_is_summed_up),
      TEST(killing_it_anywhere_loses_and_doubles_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
