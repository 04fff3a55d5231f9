/* SPDX-License-Identifier: Apache-2.0 */
/* The disk fails at each write and each flush in turn, and for a while at all of them. Failed
   appends are reported, reported appends are kept, and the store recovers by itself. */
#include "disk_model_fixture.h"
#include "store_fixture.h"

#include "common/clock.h"
#include "common/cutoff.h"
#include "store/day_folder.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>

enum {
  WRITES_MAX = 400, /* of one append; far more than there are */
  WAIT_MS = 20000,
  BEFORE_LONG = 64, /* single failures; with TORTURE_LONG all of them, and more appends in
                       between */
};

/* Sums of the batches reported as stored. */
struct said {
  uint64_t seq, weight, count;
};

static void append_one(struct store *store, struct said *said, enum store_outcome *ret) {
  struct made_batch made;
  make_batch(&made, 1, said->seq);
  seal_batch(&made);
  struct store_append append = append_of(&made, "b1", NOON_MS + said->seq * 1000);
  int error = store_append(store, &append, 1);
  assert_true((error == 0) == (append.outcome != STORE_FAILED));
  if (append.outcome == STORE_STORED) {
    said->weight += made.weight;
    said->count += made.count;
  }
  *ret = append.outcome;
  free_batch(&made);
}

/* Sends a batch again until it is acked, like a board. */
static void deliver(struct store *store, struct said *said, unsigned *refusals) {
  enum store_outcome outcome = STORE_FAILED;
  while (outcome == STORE_FAILED) {
    append_one(store, said, &outcome);
    *refusals += outcome == STORE_FAILED;
  }
  said->seq++;
}

/* Waits until an answer has all that was stored. */
static struct sums settled_sums(struct store *store) {
  struct sums sums;
  uint64_t until_ns = clock_monotonic_ns() + WAIT_MS * NS_PER_MS;
  for (;;) {
    const struct store_scan scan = {.to_ms = UINT64_MAX,
                                    .types = SAMPLE_SET_CPU,
                                    .matches = want_all,
                                    .on_block = add_block,
                                    .context = &sums};
    sums = (struct sums){0};
    uint64_t stale = store_stale_reads(store);
    int error = store_scan(store, &scan);
    if (error == 0 && store_stale_reads(store) == stale) return sums;
    if (clock_monotonic_ns() > until_ns) fail_msg("it does not settle: %d", error);
    usleep(100000);
  }
}

/* Waits until the answer has exactly the batches reported as stored. */
static void assert_all_is_there(struct store *store, const struct said *said) {
  const struct sums sums = settled_sums(store);
  assert_int_equal(sums.weight, said->weight);
  assert_int_equal(sums.count, said->count);
  assert_int_equal(board_of(store, "b1").stored, said->count);
  assert_books_close(store, "b1");
}

/* Lets each write fail in turn, once. */
static void fail_each(struct store *store, int code) {
  struct said said = {.seq = 1};
  unsigned refusals = 0, n = 1;
  for (; n < WRITES_MAX; n++) {
    if (n > BEFORE_LONG && getenv("TORTURE_LONG") == NULL) break;
    disk_fail(n, 1, code);
    for (int i = 0; i < 4 && !disk_has_failed(); i++) deliver(store, &said, &refusals);
    bool has = disk_has_failed();
    disk_fail(0, 0, 0);
    if (!has) break;
  }
  print_message("%u writes failed, %u appends were refused\n", n - 1, refusals);
  assert_true(refusals > 0);
  assert_all_is_there(store, &said);
}

static void a_failing_write_is_a_refusal_and_nothing_else(void **state) {
  struct world *world = *state;
  fail_each(world->store, SQLITE_IOERR_WRITE);
  reopen_store(world);
}

static void a_full_disk_at_any_write_is_a_refusal_and_nothing_else(void **state) {
  struct world *world = *state;
  fail_each(world->store, SQLITE_FULL);
  reopen_store(world);
}

static void a_flush_that_fails_is_not_taken_for_durable(void **state) {
  struct world *world = *state;
  fail_each(world->store, SQLITE_IOERR_FSYNC);
  reopen_store(world);
}

/* The row of the first board was rolled back, so another board has its id. */
static void a_board_that_was_rolled_back_is_another_one_again(void **state) {
  struct world *world = *state;
  disk_fail(1, 1, SQLITE_FULL);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_FAILED);
  disk_fail(0, 0, 0);
  assert_int_equal(append_new(world->store, "b2", 1, 1, NOON_MS), STORE_STORED);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED);
  uint64_t stored = board_of(world->store, "b2").stored;
  assert_true(stored > 0);
  assert_int_equal(board_of(world->store, "b1").stored, stored);
}

static uint64_t landed_rows(const char *dir) {
  char path[128];
  sqlite3 *db = NULL;
  sqlite3_stmt *count = NULL;
  snprintf(path, sizeof path, "%s/landing.db", dir);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM landing", -1, &count, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(count), SQLITE_ROW);
  uint64_t rows = (uint64_t)sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  sqlite3_close(db);
  return rows;
}

static void what_has_settled_leaves_the_landing_file(void **state) {
  struct world *world = *state;
  for (uint64_t seq = 1; seq <= 3; seq++)
    assert_int_equal(append_new(world->store, "b1", 1, seq, NOON_MS + seq * 1000), STORE_STORED);
  uint64_t until_ns = clock_monotonic_ns() + WAIT_MS * NS_PER_MS;
  while (landed_rows(world->dir) > 0) {
    if (clock_monotonic_ns() > until_ns) fail_msg("rows stay");
    usleep(20000);
  }
}

/* All writes fail for a while: queries are answered from the stored data. */
static void queries_are_answered_while_nothing_can_be_written(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  unsigned refusals = 0;
  enum store_outcome outcome;
  for (int i = 0; i < 5; i++) deliver(world->store, &said, &refusals);
  assert_all_is_there(world->store, &said);
  disk_fail(1, UINT32_MAX, SQLITE_IOERR_WRITE);
  for (int i = 0; i < 20; i++) {
    append_one(world->store, &said, &outcome);
    assert_int_equal(outcome, STORE_FAILED);
    assert_int_equal(scan_all(world->store).weight, said.weight);
  }
  disk_fail(0, 0, 0);
  refusals = 0;
  deliver(world->store, &said, &refusals);
  assert_int_equal(refusals, 0); /* by itself, at once */
  assert_all_is_there(world->store, &said);
}

/* Acked batches that cannot settle are missing from answers, which count as stale. */
static void queries_go_without_what_cannot_settle(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  unsigned refusals = 0;
  struct sums sums = {0};
  for (int i = 0; i < 5; i++) deliver(world->store, &said, &refusals);
  assert_all_is_there(world->store, &said);
  assert_int_equal(store_stale_reads(world->store), 0);
  uint64_t settled = said.weight;
  disk_fail_in("day-", SQLITE_IOERR_WRITE);
  deliver(world->store, &said, &refusals);
  sums = scan_all(world->store);
  assert_int_equal(sums.weight, settled);
  assert_int_equal(store_stale_reads(world->store), 1);
  disk_fail_in(NULL, 0);
  assert_all_is_there(world->store, &said);
}

static uint64_t weight_of_settled(struct store *store) {
  struct sums sums = {0};
  const struct store_scan scan = {.to_ms = UINT64_MAX,
                                  .types = SAMPLE_SET_CPU,
                                  .is_of_settled = true,
                                  .matches = want_all,
                                  .on_block = add_block,
                                  .context = &sums};
  assert_int_equal(store_scan(store, &scan), 0);
  return sums.weight;
}

/* The backlog takes longer to settle than a reader waits: only one query waits for it. */
static void queries_go_without_what_settles_too_slowly(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  unsigned refusals = 0;
  for (int i = 0; i < 5; i++) deliver(world->store, &said, &refusals);
  assert_all_is_there(world->store, &said);
  uint64_t settled = said.weight;
  disk_hold_in("day-");
  deliver(world->store, &said, &refusals);
  uint64_t before_ns = clock_monotonic_ns();
  assert_int_equal(weight_of_settled(world->store), settled);
  assert_true(clock_monotonic_ns() - before_ns < NS_PER_SECOND);
  assert_int_equal(store_stale_reads(world->store), 0);
  assert_int_equal(scan_all(world->store).weight, settled);
  assert_int_equal(store_late_reads(world->store), 1);
  before_ns = clock_monotonic_ns();
  for (int i = 0; i < 20; i++) assert_int_equal(scan_all(world->store).weight, settled);
  assert_true(clock_monotonic_ns() - before_ns < NS_PER_SECOND);
  assert_int_equal(store_late_reads(world->store), 21);
  assert_int_equal(store_stale_reads(world->store), 21);
  disk_hold_in(NULL);
  assert_all_is_there(world->store, &said);
  uint64_t late = store_late_reads(world->store);
  deliver(world->store, &said, &refusals);
  assert_all_is_there(world->store, &said); /* waited for again */
  assert_int_equal(store_late_reads(world->store), late);
}

static int show_none(void *context, const struct store_series *series) {
  (void)context, (void)series;
  return 0;
}

static void *abandon(void *context) {
  atomic_bool *is_abandoned = context;
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
  *is_abandoned = true;
  return NULL;
}

/* The client disconnects while its query waits for settling: the query ends, and later queries
   still wait. */
static void a_query_that_waits_ends_with_whoever_asked(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  atomic_bool is_abandoned = false;
  const struct cutoff cutoff = {.is_abandoned = &is_abandoned};
  const struct store_scan scan = {
      .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU, .matches = show_none, .cutoff = &cutoff};
  uint64_t loss[LOSS_REASON_COUNT] = {0};
  unsigned refusals = 0;
  pthread_t thread;
  deliver(world->store, &said, &refusals);
  disk_hold_in("day-");
  deliver(world->store, &said, &refusals);
  assert_int_equal(pthread_create(&thread, NULL, abandon, &is_abandoned), 0);
  assert_int_equal(store_scan(world->store, &scan), -ETIMEDOUT);
  assert_true(is_abandoned); /* not before */
  pthread_join(thread, NULL);
  assert_int_equal(store_loss_in_range(world->store, NULL, 0, UINT64_MAX, &cutoff, loss),
                   -ETIMEDOUT);
  assert_int_equal(store_stale_reads(world->store), 0);
  disk_hold_in(NULL);
  assert_all_is_there(world->store, &said);
  assert_int_equal(store_late_reads(world->store), 0);
}

struct crowd {
  struct store *store;
  atomic_bool is_over;
};

static void *append_for_ever(void *context) {
  struct crowd *crowd = context;
  struct said said = {.seq = 2};
  enum store_outcome outcome;
  while (!atomic_load(&crowd->is_over)) append_one(crowd->store, &said, &outcome);
  return NULL;
}

/* Appends that wait for the lock, one after the other, do not make other threads wait. */
static void queries_and_figures_do_not_wait_for_a_lock_that_is_kept(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  struct crowd crowd = {.store = world->store};
  struct buf metrics = {0};
  unsigned refusals = 0;
  sqlite3 *other = NULL;
  pthread_t thread;
  char path[128];
  deliver(world->store, &said, &refusals);
  assert_all_is_there(world->store, &said);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10000);
  assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(pthread_create(&thread, NULL, append_for_ever, &crowd), 0);
  usleep(200000);
  uint64_t before_ns = clock_monotonic_ns();
  for (int i = 0; i < 20; i++) {
    assert_int_equal(scan_all(world->store).weight, said.weight);
    store_metrics(world->store, &metrics);
  }
  assert_true(clock_monotonic_ns() - before_ns <
              500 * NS_PER_MS); /* half of one wait for the lock */
  atomic_store(&crowd.is_over, true);
  assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
  pthread_join(thread, NULL);
  sqlite3_close(other);
  buf_fini(&metrics);
}

/* Another program locks the landing file, as no backup does for long. */
static void a_lock_that_is_kept_is_a_refusal_and_ends_by_itself(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  unsigned refusals = 0;
  enum store_outcome outcome;
  sqlite3 *other = NULL;
  char path[128];
  deliver(world->store, &said, &refusals);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10000);
  assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  append_one(world->store, &said, &outcome);
  assert_int_equal(outcome, STORE_FAILED);
  assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(other);
  /* Answers are complete again after any board's report, not only after a batch. */
  const struct store_board_seen seen = {.board = "b1", .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  uint64_t stale = store_stale_reads(world->store);
  scan_all(world->store);
  assert_int_equal(store_stale_reads(world->store), stale);
  refusals = 0;
  deliver(world->store, &said, &refusals);
  assert_int_equal(refusals, 0);
  assert_all_is_there(world->store, &said);
}

/* The file goes between the last look before the commit and its end: what is written into it is
   nowhere, and must be written again. */
static void a_day_that_goes_while_it_is_written_loses_no_batch(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  char path[DAY_PATH_BYTES];
  unsigned refusals = 0;
  deliver(world->store, &said, &refusals);
  assert_all_is_there(world->store, &said);
  uint64_t before = said.weight;
  assert_int_equal(day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path), 0);
  disk_hold_in("day-");
  deliver(world->store, &said, &refusals);
  disk_await_held();
  assert_int_equal(unlink(path), 0);
  disk_hold_in(NULL);
  assert_int_equal(settled_sums(world->store).weight, said.weight - before);
  reopen_store(world);
  assert_int_equal(settled_sums(world->store).weight, said.weight - before);
}

static void count_damaged(void *context, const char *what, const char *why) {
  if (strcmp(what, "landing.db") == 0 && strstr(why, "reads as damaged") != NULL)
    ++*(unsigned *)context;
}

static unsigned times_told_damaged(struct store *store) {
  unsigned times = 0;
  store_troubles(store, count_damaged, &times);
  return times;
}

static void a_damaged_landing_file_is_told_until_a_commit_succeeds(void **state) {
  struct world *world = *state;
  const struct store_keep any = {.days_ms = 0};
  disk_fail(1, 1, SQLITE_CORRUPT);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_FAILED);
  disk_fail(0, 0, 0);
  assert_int_equal(times_told_damaged(world->store), 1);
  assert_int_equal(store_retain(world->store, &any), 0);
  assert_int_equal(times_told_damaged(world->store), 1);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED);
  assert_int_equal(times_told_damaged(world->store), 0);
}

/* By an operator, in the sqlite3 shell. */
static void a_checkpoint_by_another_program_stops_nothing(void **state) {
  struct world *world = *state;
  struct said said = {.seq = 1};
  sqlite3 *other = NULL;
  unsigned refusals = 0;
  char path[128];
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  for (int i = 0; i < 3; i++) {
    deliver(world->store, &said, &refusals);
    assert_all_is_there(world->store, &said);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    sqlite3_busy_timeout(other, WAIT_MS);
    assert_int_equal(sqlite3_exec(other, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    assert_int_equal(board_of(world->store, "b1").stored, said.count); /* before the next append */
    enum store_outcome outcome;
    append_one(world->store, &said, &outcome);
    assert_int_equal(outcome, STORE_STORED);
    said.seq++;
  }
  assert_all_is_there(world->store, &said);
  assert_int_equal(refusals, 0);
  reopen_store(world);
  assert_all_is_there(world->store, &said);
}

/* Also after a failed test. */
static int release_and_tear_down(void **state) {
  disk_hold_in(NULL);
  return tear_down(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_failing_write_is_a_refusal_and_nothing_else),
      TEST(a_full_disk_at_any_write_is_a_refusal_and_nothing_else),
      TEST(a_flush_that_fails_is_not_taken_for_durable),
      TEST(a_board_that_was_rolled_back_is_another_one_again),
      TEST(what_has_settled_leaves_the_landing_file),
      TEST(queries_are_answered_while_nothing_can_be_written),
      TEST(queries_go_without_what_cannot_settle),
      cmocka_unit_test_setup_teardown(queries_go_without_what_settles_too_slowly, set_up,
                                      release_and_tear_down),
      cmocka_unit_test_setup_teardown(a_query_that_waits_ends_with_whoever_asked, set_up,
                                      release_and_tear_down),
      TEST(queries_and_figures_do_not_wait_for_a_lock_that_is_kept),
      TEST(a_lock_that_is_kept_is_a_refusal_and_ends_by_itself),
      cmocka_unit_test_setup_teardown(a_day_that_goes_while_it_is_written_loses_no_batch, set_up,
                                      release_and_tear_down),
      TEST(a_damaged_landing_file_is_told_until_a_commit_succeeds),
      TEST(a_checkpoint_by_another_program_stops_nothing),
  };
  disk_install();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
