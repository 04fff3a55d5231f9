/* SPDX-License-Identifier: Apache-2.0 */
/* The store on real files: what is appended is in every answer exactly once, and the books close.
 */
#include "fixture.h"

#include "common/clock.h"
#include "store/day_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct world {
  char dir[64];
  struct store *store;
};

static void open_store(struct world *world) {
  char error[256] = "";
  if (store_open(world->dir, &world->store, error, sizeof error) != 0) fail_msg("%s", error);
}

static void reopen_store(struct world *world) {
  store_close(world->store);
  open_store(world);
}

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  snprintf(world->dir, sizeof world->dir, "/tmp/store_test.XXXXXX");
  if (mkdtemp(world->dir) == NULL) return -1;
  open_store(world);
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  store_close(world->store);
  remove_dir(world->dir);
  free(world);
  return 0;
}

struct sums {
  uint64_t blocks, rows, count, weight, series_asked, last_series;
  char series_text[4096];
};

static int want_all(void *context, const struct store_series *series) {
  struct sums *sums = context;
  size_t len = strlen(sums->series_text);
  sums->series_asked++;
  snprintf(sums->series_text + len, sizeof sums->series_text - len, "%s/%s ",
           store_series_label(series, "board"), store_series_label(series, "thread"));
  return 1;
}

static int add_block(void *context, const struct store_series *series,
                     const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                     const struct store_row *rows, size_t count) {
  struct sums *sums = context;
  assert_true(end_ms >= start_ms);
  assert_true(forest->id > 0);
  for (size_t i = 0; i < count; i++) {
    uint32_t node = rows[i].node;
    assert_true(node < forest->node_count);
    for (; node != BATCH_NONE; node = forest->nodes[node].parent) {
      assert_true(forest->nodes[node].module < forest->module_count);
      assert_true(forest->nodes[node].parent == BATCH_NONE || forest->nodes[node].parent < node);
    }
    sums->count += rows[i].count;
    sums->weight += rows[i].weight;
  }
  sums->blocks++;
  sums->rows += count;
  sums->last_series = series->id;
  return 0;
}

static struct sums scan_range(struct store *store, uint64_t from_ms, uint64_t to_ms) {
  struct sums sums = {0};
  const struct store_scan scan = {.from_ms = from_ms,
                                  .to_ms = to_ms,
                                  .types = SAMPLE_SET_CPU,
                                  .matches = want_all,
                                  .on_block = add_block,
                                  .context = &sums};
  assert_int_equal(store_scan(store, &scan), 0);
  return sums;
}

static struct sums scan_all(struct store *store) {
  return scan_range(store, 0, UINT64_MAX);
}

static int keep_board(void *context, const struct store_board *board) {
  struct store_board *wanted = context;
  if (strcmp(board->name, wanted->name) != 0) return 0;
  wanted->produced = board->produced;
  wanted->stored = board->stored;
  wanted->pending = board->pending;
  wanted->first_seen_ms = board->first_seen_ms;
  wanted->last_seen_ms = board->last_seen_ms;
  wanted->achieved_mhz = board->achieved_mhz;
  wanted->effort.asked_mhz = board->effort.asked_mhz;
  wanted->label_count = board->label_count;
  memcpy(wanted->dropped, board->dropped, sizeof wanted->dropped);
  return 0;
}

static struct store_board board_of(struct store *store, const char *name) {
  struct store_board board = {.name = name};
  assert_int_equal(store_boards(store, keep_board, &board), 0);
  return board;
}

static void assert_books_close(struct store *store, const char *name) {
  struct store_board board = board_of(store, name);
  uint64_t loss[LOSS_REASON_COUNT] = {0}, sum = 0;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) sum += board.dropped[i];
  assert_int_equal(board.produced, board.stored + sum + board.pending);
  assert_int_equal(store_loss_in_range(store, name, 0, UINT64_MAX, loss), 0);
  assert_memory_equal(loss, board.dropped, sizeof loss);
}

static void what_is_appended_is_in_the_next_answer(void **state) {
  struct world *world = *state;
  struct made_batch made;
  make_batch(&made, 1, 1);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED);
  struct sums sums = scan_all(world->store);
  assert_int_equal(sums.count, made.count);
  assert_int_equal(sums.weight, made.weight);
  assert_int_equal(sums.blocks, 3); /* two of the four threads are named alike */
  assert_string_equal(sums.series_text, "b1/log=\\file b1/main b1/worker ");
  assert_books_close(world->store, "b1");
}

static int check_labels(void *context, const struct store_series *series) {
  *(unsigned *)context += 1;
  for (uint32_t i = 1; i < series->label_count; i++)
    assert_true(strcmp(series->labels[i - 1].name, series->labels[i].name) < 0);
  assert_string_equal(store_series_label(series, "board"), "b1"); /* not the forged one */
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
  assert_int_equal(sums.series_asked, 3); /* one id a series over all days */
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

static void what_a_board_says_of_itself_is_kept_and_only_added_to(void **state) {
  struct world *world = *state;
  const struct label labels[] = {{"site", "north"}};
  const struct effort effort = {.asked_mhz = 99000, .rate_reason = "ctl", .budget_state = "within"};
  struct store_board_seen seen = {.board = "b1",
                                  .effort = &effort,
                                  .arch = "armv7l",
                                  .kernel = "4.9",
                                  .version = "0.1",
                                  .sampler = "perf",
                                  .clock = "synced",
                                  .achieved_mhz = 99000,
                                  .label_count = 1,
                                  .labels = labels,
                                  .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  seen = (struct store_board_seen){.board = "b1", .arch = "", .seen_ms = NOON_MS + 5};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.achieved_mhz, 99000);
  assert_int_equal(board.effort.asked_mhz, 99000);
  assert_int_equal(board.label_count, 1);
  assert_int_equal(board.first_seen_ms, NOON_MS);
  assert_int_equal(board.last_seen_ms, NOON_MS + 5);
}

static void the_books_close_over_batches_pings_and_refusals(void **state) {
  struct world *world = *state;
  struct counters counters = {
      .run = 1, .produced = 1000, .shipped = 900, .dropped = {[LOSS_RING_FULL] = 40}};
  const struct store_board_seen ping = {
      .board = "b1", .counters = &counters, .seen_ms = NOON_MS + 60000};
  append_new(world->store, "b1", 1, 1, NOON_MS);
  assert_books_close(world->store, "b1");
  assert_int_equal(store_board_seen(world->store, &ping), 0);
  assert_books_close(world->store, "b1");
  assert_int_equal(store_refused(world->store, "b1", 1, 2, 50), 0);
  assert_int_equal(store_refused(world->store, "b1", 1, 2, 50), 0);
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.dropped[LOSS_REJECTED], 50);
  assert_int_equal(board.dropped[LOSS_RING_FULL], 40);
  assert_books_close(world->store, "b1");
  counters.dropped[LOSS_REJECTED] = 50; /* the board has heard of it */
  counters.shipped = 850;
  counters.final = 1;
  assert_int_equal(store_board_seen(world->store, &ping), 0);
  board = board_of(world->store, "b1");
  assert_int_equal(board.dropped[LOSS_REJECTED], 50);
  assert_int_equal(board.dropped[LOSS_RUN_ENDED], 60);
  assert_books_close(world->store, "b1");
  reopen_store(world);
  assert_books_close(world->store, "b1");
}

static void losses_stand_at_the_time_of_their_batch(void **state) {
  struct world *world = *state;
  uint64_t loss[LOSS_REASON_COUNT] = {0};
  for (uint64_t seq = 1; seq <= 3; seq++) {
    struct made_batch made;
    make_batch(&made, 1, seq);
    made.batch.counters.dropped[LOSS_RING_FULL] = seq * 10; /* cumulative */
    made.batch.counters.produced = 10000;
    seal_batch(&made);
    struct store_append append = append_of(&made, "b1", NOON_MS + seq * 10000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
  }
  assert_int_equal(store_loss_in_range(world->store, "b1", NOON_MS + 20000, NOON_MS + 30000, loss),
                   0);
  assert_int_equal(loss[LOSS_RING_FULL], 10);
  assert_int_equal(store_loss_in_range(world->store, "b2", 0, UINT64_MAX, loss), 0);
  assert_int_equal(store_loss_in_range(world->store, NULL, 0, UINT64_MAX, loss), 0);
  assert_int_equal(loss[LOSS_RING_FULL], 40); /* added to what was there */
}

static void a_damaged_day_file_is_set_aside_and_the_others_are_served(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES], aside[DAY_PATH_BYTES + 16];
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 2, NOON_MS + DAY_MS);
  uint64_t second = scan_range(world->store, NOON_MS + DAY_MS / 2, UINT64_MAX).count;
  store_close(world->store);
  day_folder_path(world->dir, day_of(NOON_MS), path);
  int fd = open(path, O_WRONLY);
  for (off_t at = 0; at < 40960; at += 8) assert_int_equal(pwrite(fd, "damaged!", 8, at), 8);
  close(fd);
  open_store(world);
  assert_int_equal(scan_all(world->store).count, second);
  snprintf(aside, sizeof aside, "%s.corrupt", path);
  assert_int_equal(access(aside, F_OK), 0);
  assert_int_equal(append_new(world->store, "b1", 1, 3, NOON_MS), STORE_STORED);
  assert_int_equal(scan_all(world->store).blocks, 6);
}

static void settling_into_a_damaged_file_begins_a_fresh_one(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES];
  day_folder_path(world->dir, day_of(NOON_MS), path);
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  for (int i = 0; i < 1000; i++) assert_int_equal(write(fd, "no database", 11), 11);
  close(fd);
  struct made_batch made;
  make_batch(&made, 1, 1);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED);
  assert_int_equal(scan_all(world->store).count, made.count);
}

static void a_newer_version_is_refused_with_its_name(void **state) {
  struct world *world = *state;
  char path[128], error[256] = "";
  sqlite3 *db = NULL;
  struct store *other = NULL;
  store_close(world->store);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version=99", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(store_open(world->dir, &other, error, sizeof error), -EPROTO);
  assert_non_null(strstr(error, "landing.db"));
  assert_non_null(strstr(error, "newer version"));
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version=1", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  open_store(world);
}

static void a_damaged_landing_file_is_refused(void **state) {
  struct world *world = *state;
  char path[128], error[256] = "";
  struct store *other = NULL;
  store_close(world->store);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  int fd = open(path, O_RDWR);
  for (off_t at = 4096; at < 16384; at += 8) assert_int_equal(pwrite(fd, "damaged!", 8, at), 8);
  close(fd);
  assert_int_equal(store_open(world->dir, &other, error, sizeof error), -EUCLEAN);
  assert_non_null(strstr(error, "damaged"));
  unlink(path);
  open_store(world);
}

static void a_full_disk_fails_the_group_and_heals_by_itself(void **state) {
  struct world *world = *state;
  struct rlimit limit, small;
  uint64_t stored = 0, failed = 0, seq = 1;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  assert_int_equal(append_new(world->store, "b1", 1, seq++, NOON_MS), STORE_STORED);
  stored = 1;
  assert_int_equal(scan_all(world->store).blocks, 3);
  small = (struct rlimit){300000, limit.rlim_max}; /* no file may grow past this */
  setrlimit(RLIMIT_FSIZE, &small);
  for (; failed < 5 && seq < 2000; seq++) {
    enum store_outcome outcome = append_new(world->store, "b1", 1, seq, NOON_MS);
    if (outcome == STORE_STORED) stored++;
    if (outcome == STORE_FAILED) failed++;
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  assert_int_equal(failed, 5);
  assert_int_equal(append_new(world->store, "b1", 1, seq, NOON_MS), STORE_STORED);
  assert_int_equal(scan_all(world->store).blocks, (stored + 1) * 3);
  reopen_store(world);
  assert_int_equal(scan_all(world->store).blocks, (stored + 1) * 3);
}

static void what_cannot_settle_now_settles_later(void **state) {
  struct world *world = *state;
  struct sums sums = {0};
  const struct store_scan scan = {.to_ms = UINT64_MAX,
                                  .types = SAMPLE_SET_CPU,
                                  .matches = want_all,
                                  .on_block = add_block,
                                  .context = &sums};
  struct made_batch made[2];
  struct store_append group[2];
  char path[DAY_PATH_BYTES];
  day_folder_path(world->dir, day_of(NOON_MS + DAY_MS), path);
  assert_int_equal(mkdir(path, 0700), 0); /* the second batch's day cannot be opened */
  for (unsigned i = 0; i < 2; i++) {
    make_batch(&made[i], 1, i + 1);
    seal_batch(&made[i]);
    group[i] = append_of(&made[i], "b1", NOON_MS + i * DAY_MS);
  }
  assert_int_equal(store_append(world->store, group, 2), 0);
  assert_true(store_scan(world->store, &scan) < 0); /* said, and not answered with a part */
  assert_int_equal(sums.blocks, 0);
  assert_int_equal(rmdir(path), 0);
  while (store_scan(world->store, &scan) < 0) usleep(50000);
  assert_int_equal(sums.count, made[0].count + made[1].count);
  free_batch(&made[0]);
  free_batch(&made[1]);
}

static void retention_deletes_whole_days(void **state) {
  struct world *world = *state;
  uint64_t now_ms = clock_walltime_ns() / NS_PER_MS, today = now_ms - now_ms % DAY_MS;
  for (uint64_t day = 0; day < 5; day++)
    append_new(world->store, "b1", 1, day + 1, today + DAY_MS / 2 - day * DAY_MS);
  assert_int_equal(scan_all(world->store).blocks, 15);
  assert_int_equal(store_retain(world->store, today - 3 * DAY_MS, 0), 0);
  assert_int_equal(scan_all(world->store).blocks, 12); /* the day that ends then is too old */
  assert_int_equal(store_retain(world->store, 0, 1), 0);
  assert_int_equal(scan_all(world->store).blocks, 3);       /* today's always stays */
  append_new(world->store, "b1", 1, 9, today - DAY_MS / 2); /* a deleted day comes back */
  assert_int_equal(scan_all(world->store).blocks, 6);
}

static void a_new_landing_file_is_not_mistaken_for_the_old_one(void **state) {
  struct world *world = *state;
  char path[128];
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 2, NOON_MS);
  assert_int_equal(scan_all(world->store).blocks, 6);
  store_close(world->store);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  assert_int_equal(unlink(path), 0);
  open_store(world);
  append_new(world->store, "b1", 2, 1, NOON_MS); /* its ids begin at 1 again */
  assert_int_equal(scan_all(world->store).blocks, 9);
}

static void runs_over_the_limit_are_folded_and_still_in_the_books(void **state) {
  struct world *world = *state;
  struct store_board_seen seen = {.board = "b1"};
  for (uint64_t run = 1; run <= 4100; run++) {
    struct counters counters = {
        .run = run, .produced = 10, .shipped = 4, .dropped = {[LOSS_RING_FULL] = 3}};
    seen.counters = &counters;
    seen.seen_ms = NOON_MS + run;
    assert_int_equal(store_board_seen(world->store, &seen), 0);
  }
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.produced, 41000);
  assert_int_equal(board.dropped[LOSS_RING_FULL], 12300);
  assert_int_equal(board.dropped[LOSS_RUN_ENDED], 4 * 7);
  assert_int_equal(board.pending, 4096 * 7);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
      TEST(what_a_board_says_of_itself_is_kept_and_only_added_to),
      TEST(the_books_close_over_batches_pings_and_refusals),
      TEST(losses_stand_at_the_time_of_their_batch),
      TEST(a_damaged_day_file_is_set_aside_and_the_others_are_served),
      TEST(settling_into_a_damaged_file_begins_a_fresh_one),
      TEST(a_newer_version_is_refused_with_its_name),
      TEST(a_damaged_landing_file_is_refused),
      TEST(a_full_disk_fails_the_group_and_heals_by_itself),
      TEST(what_cannot_settle_now_settles_later),
      TEST(retention_deletes_whole_days),
      TEST(a_new_landing_file_is_not_mistaken_for_the_old_one),
      TEST(runs_over_the_limit_are_folded_and_still_in_the_books),
      TEST(a_call_back_stops_the_scan),
      TEST(threads_append_while_another_reads),
      TEST(the_node_key_is_secret_and_stays),
      TEST(metrics_tell_what_happened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
