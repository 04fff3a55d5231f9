/* SPDX-License-Identifier: Apache-2.0 */
/* The store on real files: each appended batch is in every answer exactly once. */
#include "store_fixture.h"

#include "common/clock.h"
#include "common/cutoff.h"
#include "store/day_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static void what_is_appended_is_in_the_next_answer(void **state) {
  struct world *world = *state;
  struct made_batch made;
  make_batch(&made, 1, 1);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED);
  struct sums sums = scan_all(world->store);
  assert_int_equal(sums.count, made.count);
  assert_int_equal(sums.weight, made.weight);
  assert_int_equal(sums.blocks, 3); /* two of the four threads have the same name */
  assert_string_equal(sums.series_text, "b1/log=\\file b1/main b1/worker ");
  assert_books_close(world->store, "b1");
}

static int check_labels(void *context, const struct store_series *series) {
  *(unsigned *)context += 1;
  for (uint32_t i = 1; i < series->label_count; i++)
    assert_true(strcmp(series->labels[i - 1].name, series->labels[i].name) < 0);
  assert_string_equal(store_series_label(series, "board"), "b1"); /* not the forged value */
  assert_string_equal(store_series_label(series, "service"), "tool");
  assert_string_equal(store_series_label(series, "exe"), "/usr/bin/tool");
  assert_string_equal(store_series_label(series, "build_id"), "12abcd");
  assert_string_equal(store_series_label(series, "arch"), "x86_64");
  assert_string_equal(store_series_label(series, "kernel"), "6.1");
  assert_string_equal(store_series_label(series, "site"),
                      "north"); /* the target's, not the board's */
  assert_string_equal(store_series_label(series, "rack"), "7");
  assert_null(store_series_label(series, "none"));
  return 1;
}

static void series_carry_our_labels_and_the_users(void **state) {
  struct world *world = *state;
  const struct label labels[] = {{"rack", "7"}, {"site", "south"}};
  const struct store_board_seen seen = {.board = "b1",
                                        .arch = "x86_64",
                                        .kernel = "6.1",
                                        .label_count = 2,
                                        .labels = labels,
                                        .seen_ms = NOON_MS};
  unsigned asked = 0;
  const struct store_scan scan = {
      .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU, .matches = check_labels, .context = &asked};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 2, NOON_MS + DAY_MS); /* the same series in another file */
  assert_int_equal(store_scan(world->store, &scan), 0);
  assert_int_equal(asked, 3);
}

struct types_seen {
  uint64_t weight[SAMPLE_TYPE_COUNT];
  unsigned asked;
  uint32_t lr_parent; /* of the last sample with a link register */
};

static int ask_types(void *context, const struct store_series *series) {
  (void)series;
  ((struct types_seen *)context)->asked++;
  return 1;
}

static int add_types(void *context, const struct store_series *series,
                     const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                     const struct store_row *rows, size_t count) {
  struct types_seen *seen = context;
  (void)start_ms, (void)end_ms;
  for (size_t i = 0; i < count; i++) {
    seen->weight[series->type] += rows[i].weight;
    if (series->type == SAMPLE_CPU_LR) seen->lr_parent = forest->nodes[rows[i].node].parent;
  }
  return 0;
}

static void types_of_one_series_are_kept_apart_and_scanned_together(void **state) {
  struct world *world = *state;
  struct made_batch made;
  make_batch(&made, 1, 1);
  made.samples[FIXTURE_SAMPLES - 1].type = SAMPLE_CPU_LR;
  uint64_t lr_weight = made.samples[FIXTURE_SAMPLES - 1].weight;
  seal_batch(&made);
  struct store_append append = append_of(&made, "b1", NOON_MS);
  assert_int_equal(store_append(world->store, &append, 1), 0);
  struct types_seen seen = {.lr_parent = BATCH_NONE};
  struct store_scan scan = {.to_ms = UINT64_MAX,
                            .types = SAMPLE_SET_CPU,
                            .matches = ask_types,
                            .on_block = add_types,
                            .context = &seen};
  assert_int_equal(store_scan(world->store, &scan), 0);
  assert_int_equal(seen.asked, 3);
  assert_int_equal(seen.weight[SAMPLE_CPU], made.weight - lr_weight);
  assert_int_equal(seen.weight[SAMPLE_CPU_LR], lr_weight);
  assert_int_not_equal(seen.lr_parent, BATCH_NONE);
  memset(&seen, 0, sizeof seen);
  scan.types = 1 << SAMPLE_CPU_LR;
  assert_int_equal(store_scan(world->store, &scan), 0);
  assert_int_equal(seen.weight[SAMPLE_CPU], 0);
  assert_int_equal(seen.weight[SAMPLE_CPU_LR], lr_weight);
  free_batch(&made);
}

static void the_same_batch_twice_counts_once(void **state) {
  struct world *world = *state;
  uint64_t last = 9;
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED);
  struct sums once = scan_all(world->store);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_DUPLICATE);
  reopen_store(world);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_DUPLICATE);
  struct sums again = scan_all(world->store);
  assert_int_equal(again.count, once.count);
  assert_int_equal(again.blocks, once.blocks);
  assert_int_equal(append_new(world->store, "b2", 1, 1, NOON_MS), STORE_STORED);
  assert_int_equal(append_new(world->store, "b1", 2, 1, NOON_MS), STORE_STORED);
  assert_int_equal(store_last_seq(world->store, "b1", 1, &last), 0);
  assert_int_equal(last, 1);
  assert_int_equal(store_last_seq(world->store, "b1", 77, &last), 0);
  assert_int_equal(last, 0);
}

static void a_batch_twice_in_one_group_counts_once(void **state) {
  struct world *world = *state;
  struct made_batch made[2];
  struct store_append group[4];
  for (unsigned i = 0; i < 2; i++) {
    make_batch(&made[i], 1, i + 1);
    seal_batch(&made[i]);
    group[i] = group[i + 2] = append_of(&made[i], "b1", NOON_MS + i * 10000);
  }
  assert_int_equal(store_append(world->store, group, 4), 0);
  assert_int_equal(group[0].outcome, STORE_STORED);
  assert_int_equal(group[1].outcome, STORE_STORED);
  assert_int_equal(group[2].outcome, STORE_DUPLICATE);
  assert_int_equal(group[3].outcome, STORE_DUPLICATE);
  assert_int_equal(scan_all(world->store).count, made[0].count + made[1].count);
  free_batch(&made[0]);
  free_batch(&made[1]);
}

static void a_gap_is_filled_when_its_batch_comes(void **state) {
  struct world *world = *state;
  uint64_t last = 0;
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED);
  assert_int_equal(append_new(world->store, "b1", 1, 5, NOON_MS), STORE_STORED);
  assert_int_equal(store_last_seq(world->store, "b1", 1, &last), 0);
  assert_int_equal(last, 5);
  assert_int_equal(append_new(world->store, "b1", 1, 3, NOON_MS), STORE_STORED);
  assert_int_equal(append_new(world->store, "b1", 1, 3, NOON_MS), STORE_DUPLICATE);
  assert_int_equal(append_new(world->store, "b1", 1, 2, NOON_MS), STORE_STORED);
  assert_int_equal(store_last_seq(world->store, "b1", 1, &last), 0);
  assert_int_equal(last, 5);
}

static void a_block_belongs_to_the_range_of_its_midpoint(void **state) {
  struct world *world = *state;
  const uint64_t midnight = NOON_MS + DAY_MS / 2;
  append_new(world->store, "b1", 1, 1, midnight - 4000); /* mid 1 s after midnight */
  append_new(world->store, "b1", 1, 2, midnight - 6000); /* mid 1 s before */
  struct sums all = scan_all(world->store);
  struct sums before = scan_range(world->store, 0, midnight);
  struct sums after = scan_range(world->store, midnight, UINT64_MAX);
  assert_int_equal(before.blocks, 3);
  assert_int_equal(after.blocks, 3);
  assert_int_equal(before.weight + after.weight, all.weight);
  assert_int_equal(scan_range(world->store, midnight + 1000, midnight + 1001).blocks, 3);
  assert_int_equal(scan_range(world->store, midnight + 1001, UINT64_MAX).blocks, 0);
  assert_int_equal(scan_range(world->store, midnight + 1000, midnight + 1000).blocks, 0);
  assert_int_equal(scan_range(world->store, midnight, 0).blocks, 0);
}

static void many_days_settle_through_four_open_files(void **state) {
  struct world *world = *state;
  uint64_t count = 0;
  for (uint64_t seq = 1; seq <= 40; seq++) {
    struct made_batch made;
    make_batch(&made, 1, seq);
    count += made.count;
    uint64_t day = seq * 7 % 10;
    assert_int_equal(append_new(world->store, "b1", 1, seq, NOON_MS + day * DAY_MS), STORE_STORED);
  }
  struct sums sums = scan_all(world->store);
  assert_int_equal(sums.count, count);
  assert_int_equal(sums.series_asked, 3); /* one id for a series over all days */
  assert_int_equal(sums.blocks, 120);
}

static void an_absurd_time_is_placed_at_its_arrival(void **state) {
  struct world *world = *state;
  struct made_batch made;
  make_batch(&made, 1, 1);
  seal_batch(&made);
  struct store_append append = append_of(&made, "b1", 5000); /* 1970 */
  append.received_ms = NOON_MS;
  assert_int_equal(store_append(world->store, &append, 1), 0);
  free_batch(&made);
  assert_int_equal(scan_range(world->store, NOON_MS, NOON_MS + 1).count, made.count);
}

static void what_is_older_than_400_days_lies_at_its_arrival(void **state) {
  struct world *world = *state;
  struct buf text = {0};
  static const uint64_t days[] = {399, 401};
  uint64_t counts[2];
  for (unsigned i = 0; i < 2; i++) {
    struct made_batch made;
    make_batch(&made, 1, i + 1);
    seal_batch(&made);
    counts[i] = made.count;
    struct store_append append = append_of(&made, "b1", NOON_MS - days[i] * DAY_MS);
    append.received_ms = NOON_MS;
    assert_int_equal(store_append(world->store, &append, 1), 0);
    assert_int_equal(append.outcome, STORE_STORED);
    free_batch(&made);
  }
  uint64_t kept_ms = NOON_MS - days[0] * DAY_MS;
  assert_int_equal(scan_range(world->store, 0, kept_ms).count, 0);
  assert_int_equal(scan_range(world->store, kept_ms, kept_ms + 60000).count, counts[0]);
  assert_int_equal(scan_range(world->store, NOON_MS, NOON_MS + 1).count, counts[1]);
  store_metrics(world->store, &text);
  assert_non_null(strstr(buf_text(&text), "\nfleetprof_store_misplaced_total 1\n"));
  buf_fini(&text);
}

static void retention_deletes_whole_days(void **state) {
  struct world *world = *state;
  uint64_t now_ms = clock_walltime_ns() / NS_PER_MS, today = now_ms - now_ms % DAY_MS;
  for (uint64_t day = 0; day < 5; day++)
    append_new(world->store, "b1", 1, day + 1, today + DAY_MS / 2 - day * DAY_MS);
  assert_int_equal(scan_all(world->store).blocks, 15);
  const struct store_keep by_age = {.days_ms = today - 3 * DAY_MS}, by_bytes = {.max_bytes = 1};
  assert_int_equal(store_retain(world->store, &by_age), 0);
  assert_int_equal(scan_all(world->store).blocks, 12); /* the day that ends then is too old */
  assert_int_equal(store_retain(world->store, &by_bytes), 0);
  assert_int_equal(scan_all(world->store).blocks, 3);       /* today's always stays */
  append_new(world->store, "b1", 1, 9, today - DAY_MS / 2); /* a deleted day is created again */
  assert_int_equal(scan_all(world->store).blocks, 6);
}

/* Days stored by an earlier version, by a clock of 1970, and by one that was ahead. */
static void days_that_cannot_be_are_served_and_never_too_old(void **state) {
  struct world *world = *state;
  uint64_t now_ms = clock_walltime_ns() / NS_PER_MS, today = now_ms - now_ms % DAY_MS;
  const uint64_t days_ms[] = {today - 40 * (uint64_t)DAY_MS, DAY_MS, today + 40 * (uint64_t)DAY_MS,
                              today + 3652 * (uint64_t)DAY_MS, today};
  for (uint64_t i = 0; i < 5; i++) append_new(world->store, "b1", 1, i + 1, days_ms[i] + 60000);
  const struct store_keep by_age = {.windows_ms = now_ms,
                                    .minutes_ms = now_ms,
                                    .hours_ms = now_ms,
                                    .days_ms = now_ms},
                          by_bytes = {.max_bytes = 1};
  struct buf text = {0};
  for (unsigned round = 0; round < 2; round++) {
    assert_true(scan_all(world->store).count > 0); /* all has settled */
    assert_int_equal(store_roll(world->store), 0);
    assert_int_equal(store_retain(world->store, &by_age), 0);
    assert_int_equal(scan_range(world->store, days_ms[0], days_ms[0] + DAY_MS).blocks, 0);
    for (unsigned i = 1; i < 4; i++)
      assert_true(scan_range(world->store, days_ms[i], days_ms[i] + DAY_MS).count > 0);
    struct store_misdated misdated = store_misdated(world->store);
    assert_int_equal(misdated.count, 3);
    assert_int_equal(misdated.first, 1);
    assert_int_equal(misdated.last, day_of(days_ms[3]));
    reopen_store(world);
  }
  assert_int_equal(store_retain(world->store, &by_bytes), 0); /* deletes them for space */
  for (unsigned i = 1; i < 4; i++)
    assert_int_equal(scan_range(world->store, days_ms[i], days_ms[i] + DAY_MS).count, 0);
  assert_true(scan_range(world->store, today, today + DAY_MS).count > 0);
  store_metrics(world->store, &text);
  assert_non_null(strstr(buf_text(&text), "\nfleetprof_store_misdated_dates 3\n"));
  assert_int_equal(store_retain(world->store, &by_bytes), 0);
  assert_int_equal(store_misdated(world->store).count, 0);
  buf_fini(&text);
}

/* With a clock of 1970 no stored data counts as being in the future. */
static void a_clock_that_cannot_be_judges_no_day(void **state) {
  (void)state;
  uint64_t now_ms = NOON_MS;
  uint32_t today = day_of(now_ms);
  assert_false(day_is_misdated(today, now_ms));
  assert_false(day_is_misdated(today + 1, now_ms)); /* a window may end slightly ahead */
  assert_true(day_is_misdated(today + 2, now_ms));
  assert_true(day_is_misdated(19722, now_ms)); /* 2023-12-31 */
  assert_false(day_is_misdated(19723, now_ms));
  assert_false(day_is_misdated(today, 5 * (uint64_t)DAY_MS));
  assert_false(day_is_misdated(0, 5 * (uint64_t)DAY_MS));
}

static int stop_at_second(void *context, const struct store_series *series,
                          const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                          const struct store_row *rows, size_t count) {
  (void)series, (void)forest, (void)start_ms, (void)end_ms, (void)rows, (void)count;
  struct sums *sums = context;
  return ++sums->blocks == 2 ? 42 : 0;
}

static void a_call_back_stops_the_scan(void **state) {
  struct world *world = *state;
  struct sums sums = {0};
  const struct store_scan scan = {.to_ms = UINT64_MAX,
                                  .types = SAMPLE_SET_CPU,
                                  .matches = want_all,
                                  .on_block = stop_at_second,
                                  .context = &sums};
  append_new(world->store, "b1", 1, 1, NOON_MS);
  assert_int_equal(store_scan(world->store, &scan), 42);
  assert_int_equal(sums.blocks, 2);
}

static void *append_many(void *context) {
  struct store *store = context;
  for (uint64_t seq = 1; seq <= 50; seq++) append_new(store, "b9", 9, seq, NOON_MS + seq * 10000);
  return NULL;
}

static atomic_bool is_abandoned;

static int abandon(void *context, const struct store_series *series,
                   const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                   const struct store_row *rows, size_t count) {
  is_abandoned = true;
  return add_block(context, series, forest, start_ms, end_ms, rows, count);
}

static void a_scan_ends_at_its_limits(void **state) {
  struct world *world = *state;
  struct sums sums = {0};
  struct store_scan scan = {.to_ms = UINT64_MAX,
                            .types = SAMPLE_SET_CPU,
                            .matches = want_all,
                            .on_block = add_block,
                            .context = &sums};
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 2, NOON_MS + 10000);
  uint64_t rows = scan_all(world->store).rows;
  scan.rows_max = rows;
  assert_int_equal(store_scan(world->store, &scan), 0);
  scan.rows_max = rows - 1;
  assert_int_equal(store_scan(world->store, &scan), -E2BIG);
  scan.rows_max = 0;
  const struct cutoff cutoff = {.is_abandoned = &is_abandoned};
  scan.on_block = abandon;
  scan.cutoff = &cutoff;
  scan.grain_ms = 1;
  sums = (struct sums){0};
  assert_int_equal(store_scan(world->store, &scan), -ETIMEDOUT);
  assert_int_equal(sums.blocks, 1);
  is_abandoned = false;
}

static void threads_append_while_another_reads(void **state) {
  struct world *world = *state;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, append_many, world->store), 0);
  for (uint64_t seq = 1; seq <= 50; seq++) {
    append_new(world->store, "b1", 1, seq, NOON_MS + seq * 10000);
    assert_true(scan_all(world->store).blocks >= seq * 3);
  }
  pthread_join(thread, NULL);
  assert_int_equal(scan_all(world->store).blocks, 300);
}

static void the_node_key_is_secret_and_stays(void **state) {
  struct world *world = *state;
  char path[128];
  uint8_t before[32], after[32];
  struct stat status;
  snprintf(path, sizeof path, "%s/node.key", world->dir);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_size, 32);
  assert_int_equal(status.st_mode & 0777, 0600);
  int fd = open(path, O_RDONLY);
  assert_int_equal(read(fd, before, 32), 32);
  reopen_store(world);
  assert_int_equal(pread(fd, after, 32, 0), 32);
  assert_memory_equal(before, after, 32);
  close(fd);
}

static void metrics_tell_what_happened(void **state) {
  struct world *world = *state;
  struct buf text = {0};
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 1, NOON_MS);
  scan_all(world->store);
  store_metrics(world->store, &text);
  const char *metrics = buf_text(&text);
  assert_non_null(strstr(metrics, "\nfleetprof_store_appended_total 1\n"));
  assert_non_null(strstr(metrics, "\nfleetprof_store_duplicates_total 1\n"));
  assert_non_null(strstr(metrics, "\nfleetprof_store_settled_total 1\n"));
  assert_non_null(strstr(metrics, "\nfleetprof_store_unsettled 0\n"));
  buf_fini(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_is_appended_is_in_the_next_answer),
      TEST(series_carry_our_labels_and_the_users),
      TEST(types_of_one_series_are_kept_apart_and_scanned_together),
      TEST(the_same_batch_twice_counts_once),
      TEST(a_batch_twice_in_one_group_counts_once),
      TEST(a_gap_is_filled_when_its_batch_comes),
      TEST(a_block_belongs_to_the_range_of_its_midpoint),
      TEST(many_days_settle_through_four_open_files),
      TEST(an_absurd_time_is_placed_at_its_arrival),
      TEST(what_is_older_than_400_days_lies_at_its_arrival),
      TEST(retention_deletes_whole_days),
      TEST(days_that_cannot_be_are_served_and_never_too_old),
      TEST(a_clock_that_cannot_be_judges_no_day),
      TEST(a_call_back_stops_the_scan),
      TEST(a_scan_ends_at_its_limits),
      TEST(threads_append_while_another_reads),
      TEST(the_node_key_is_secret_and_stays),
      TEST(metrics_tell_what_happened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
