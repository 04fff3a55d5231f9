/* SPDX-License-Identifier: Apache-2.0 */
/* A missing, truncated, older or foreign file of the store is detected and reported. The other
   files' data is kept, and a stored batch never counts again. */
#include "day_fixture.h"

#include "proto/batch_codec.h"
#include "sqlite/marks.h"
#include "store/store_check.h"

enum { RUN = 7, BATCHES = 6 };

/* ---- reported faults ---- */

struct told_faults {
  unsigned count;
  char text[2048];
};

static void add_fault(void *context, const char *what, const char *why) {
  struct told_faults *told = context;
  size_t len = strlen(told->text);
  snprintf(told->text + len, sizeof told->text - len, "%s %s\n", what, why);
  told->count++;
}

static struct told_faults troubles_of(struct store *store) {
  struct told_faults told = {0};
  store_troubles(store, add_fault, &told);
  return told;
}

static struct told_faults check_of(const struct world *world) {
  struct told_faults told = {0};
  assert_int_equal(store_check_marks(world->dir, add_fault, &told), 0);
  return told;
}

static void assert_told(const struct told_faults *told, const char *what) {
  if (told->count != 1 || strstr(told->text, what) == NULL)
    fail_msg("not of %s alone: %s", what, told->text);
}

static void assert_nothing_told(const struct world *world) {
  struct told_faults told = troubles_of(world->store);
  if (told.count != 0) fail_msg("told: %s", told.text);
}

/* ---- files ---- */

static const char *path_of(const struct world *world, const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", world->dir, name);
  return path;
}

static const char *day_path(const struct world *world, enum day_kind kind) {
  static char path[DAY_PATH_BYTES];
  assert_int_equal(day_folder_path(world->dir, kind, day_of(NOON_MS), path), 0);
  return path;
}

static void copy_file(const char *from, const char *to) {
  char command[1024];
  snprintf(command, sizeof command, "cp '%s' '%s.new' && mv '%s.new' '%s'", from, to, to, to);
  assert_int_equal(system(command), 0);
}

static void close_store(struct world *world) {
  store_close(world->store);
  world->store = NULL;
}

static void append_batches(struct world *world, const char *board, uint64_t from, uint64_t to) {
  for (uint64_t seq = from; seq <= to; seq++)
    assert_int_equal(append_new(world->store, board, RUN, seq, NOON_MS + seq * 10000),
                     STORE_STORED);
}

static void assert_all_known(struct world *world) {
  for (uint64_t seq = 1; seq <= BATCHES; seq++)
    assert_int_equal(append_new(world->store, "b1", RUN, seq, NOON_MS + seq * 10000),
                     STORE_DUPLICATE);
}

/* ---- landing.db ---- */

static void lose_landing(struct world *world, int way, const char *older) {
  const char *path = path_of(world, "landing.db");
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  if (way == 0) assert_int_equal(unlink(path), 0);
  if (way == 1) assert_int_equal(truncate(path, 0), 0);
  if (way == 2) assert_int_equal(truncate(path, status.st_size / 2), 0);
  if (way == 3) copy_file(older, path);
}

static void a_lost_landing_file_counts_no_batch_twice(void **state) {
  struct world *world = *state;
  char older[128];
  append_batches(world, "b1", 1, 2);
  close_store(world);
  snprintf(older, sizeof older, "%s/older", world->dir);
  copy_file(path_of(world, "landing.db"), older);
  open_store(world);
  append_batches(world, "b1", 3, BATCHES);
  const struct sums before = scan_all(world->store);
  for (int way = 0; way < 4; way++) {
    close_store(world);
    lose_landing(world, way, older);
    struct told_faults check = check_of(world);
    if (way != 2) assert_told(&check, "landing.db"); /* a damaged one is reported by its reader */
    open_store(world);
    struct told_faults told = troubles_of(world->store);
    assert_told(&told, "landing.db");
    assert_all_known(world);
    assert_int_equal(scan_all(world->store).weight, before.weight);
    assert_int_equal(board_of(world->store, "b1").stored, before.count);
    assert_books_close(world->store, "b1");
    assert_true(store_incomplete_reads(world->store) > 0);
  }
  append_batches(world, "b1", BATCHES + 1, BATCHES + 2); /* ids go on above those of the days */
  assert_true(scan_all(world->store).count > before.count);
  reopen_store(world);
  struct told_faults told = troubles_of(world->store);
  assert_told(&told, "landing.db"); /* until an operator accepts the loss */
}

static void another_stores_landing_file_is_set_aside(void **state) {
  struct world *world = *state;
  struct world other = {.dir = "/tmp/store_other.XXXXXX"};
  char error[256];
  assert_non_null(mkdtemp(other.dir));
  open_store(&other);
  append_batches(&other, "b9", 1, 2);
  close_store(&other);
  append_batches(world, "b1", 1, BATCHES);
  const struct sums before = scan_all(world->store);
  uint64_t epoch = 0;
  close_store(world);
  assert_int_equal(marks_peek(world->dir, "landing.db", MARKS_STORE, &epoch), 1);
  sqlite3 *rights = NULL; /* access.db, which has the store's id */
  assert_int_equal(sqlite3_open(path_of(world, "access.db"), &rights), SQLITE_OK);
  assert_int_equal(sqlite3_exec(rights, MARKS_SCHEMA, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(marks_write(rights, MARKS_STORE, epoch), 0);
  sqlite3_close(rights);
  char from[128];
  snprintf(from, sizeof from, "%s/landing.db", other.dir);
  copy_file(from, path_of(world, "landing.db"));
  open_store(world);
  struct told_faults told = troubles_of(world->store);
  assert_told(&told, "another collector's");
  assert_all_known(world);
  assert_int_equal(scan_all(world->store).count, before.count);
  assert_int_equal(access(path_of(world, "landing.db.corrupt"), F_OK), 0);
  close_store(world);
  assert_int_equal(store_accept_loss(world->dir, add_fault, &told, error, sizeof error), 0);
  open_store(world);
  assert_nothing_told(world);
  remove_dir(other.dir);
}

/* From 16 on batches are small; counters are those of an honest board. Seqs to 10 are of one day,
   later ones of the next. */
static uint64_t append_sized(struct world *world, uint64_t seq, uint64_t made_before) {
  struct made_batch made;
  make_batch(&made, RUN, seq);
  if (seq > 15) made.batch.sample_count = 2;
  uint64_t records = batch_record_count(&made.batch);
  made.batch.counters.produced = made.batch.counters.shipped = made_before + records;
  seal_batch(&made);
  struct store_append append =
      append_of(&made, "b1", NOON_MS + (seq > 10 ? DAY_MS : 0) + seq * 10000);
  assert_int_equal(store_append(world->store, &append, 1), 0);
  assert_int_equal(append.outcome, STORE_STORED);
  free_batch(&made);
  return records;
}

/* The older file has some of the later day's batches, and their numbers of records are unknown. */
static void batches_after_a_mend_are_taken(void **state) {
  struct world *world = *state;
  char older[160];
  snprintf(older, sizeof older, "%s/older", world->dir);
  uint64_t records = 0;
  for (uint64_t seq = 1; seq <= 20; seq++) {
    records += append_sized(world, seq, records);
    if (seq != 15 && seq != 20) continue;
    scan_all(world->store);
    close_store(world);
    if (seq == 15) copy_file(path_of(world, "landing.db"), older);
    open_store(world);
  }
  close_store(world);
  for (unsigned way = 0; way < 3; way++) {
    if (way == 0) copy_file(older, path_of(world, "landing.db"));
    if (way == 1) assert_int_equal(unlink(path_of(world, "landing.db")), 0);
    if (way == 2) assert_int_equal(unlink(day_path(world, DAY_WINDOWS)), 0);
    if (way == 2) copy_file(older, path_of(world, "landing.db"));
    open_store(world);
    uint64_t stored = board_of(world->store, "b1").stored, before = records;
    if (way != 2) assert_int_equal(stored, records);
    assert_true(stored <= records); /* a deleted day would have more */
    for (uint64_t seq = 21; seq <= 30; seq++) before += append_sized(world, seq + way * 10, before);
    assert_int_equal(board_of(world->store, "b1").stored, stored + before - records);
    records = before;
    scan_all(world->store);
    close_store(world);
  }
  open_store(world);
}

/* The state after a power cut, if a row with only losses had been compacted. */
static void ids_behind_a_day_with_no_batch_lacking_are_no_loss(void **state) {
  struct world *world = *state;
  append_batches(world, "b1", 1, BATCHES);
  uint64_t count = scan_all(world->store).count;
  close_store(world);
  change_file(path_of(world, "landing.db"), "UPDATE sqlite_sequence SET seq=seq-1");
  assert_int_equal(check_of(world).count, 0);
  open_store(world);
  assert_nothing_told(world);
  assert_all_known(world);
  append_batches(world, "b1", BATCHES + 1, BATCHES + 1);
  assert_true(scan_all(world->store).count > count);
  assert_books_close(world->store, "b1");
}

static void a_board_of_a_mended_ledger_was_seen_on_its_last_day(void **state) {
  struct world *world = *state;
  append_batches(world, "b1", 1, 2);
  scan_all(world->store);
  close_store(world);
  assert_int_equal(unlink(path_of(world, "landing.db")), 0);
  open_store(world);
  assert_int_equal(board_of(world->store, "b1").last_seen_ms,
                   ((uint64_t)day_of(NOON_MS) + 1) * DAY_MS);
}

/* ---- days ---- */

static void a_day_that_is_gone_or_older_is_told(void **state) {
  struct world *world = *state;
  static const char *const words[] = {"is gone or empty", "is gone or empty", "is an older copy",
                                      "another collector's"};
  char older[160], kept[160], other[160], landing[160];
  snprintf(older, sizeof older, "%s/older-day", world->dir);
  snprintf(kept, sizeof kept, "%s/kept-day", world->dir);
  snprintf(other, sizeof other, "%s/other-day", world->dir);
  snprintf(landing, sizeof landing, "%s/kept-landing", world->dir);
  append_batches(world, "b1", 1, 2);
  scan_all(world->store);
  close_store(world);
  copy_file(day_path(world, DAY_WINDOWS), older);
  copy_file(older, other);
  change_file(other, "UPDATE meta SET epoch=epoch+1");
  open_store(world);
  append_batches(world, "b1", 3, BATCHES);
  uint64_t count = scan_all(world->store).count;
  close_store(world);
  copy_file(day_path(world, DAY_WINDOWS), kept);
  copy_file(path_of(world, "landing.db"), landing);
  for (unsigned way = 0; way < 4; way++) {
    copy_file(kept, day_path(world, DAY_WINDOWS));
    copy_file(landing, path_of(world, "landing.db"));
    if (way == 0) assert_int_equal(unlink(day_path(world, DAY_WINDOWS)), 0);
    if (way == 1) assert_int_equal(truncate(day_path(world, DAY_WINDOWS), 0), 0);
    if (way >= 2) copy_file(way == 2 ? older : other, day_path(world, DAY_WINDOWS));
    struct told_faults check = check_of(world);
    assert_told(&check, words[way]);
    open_store(world);
    struct told_faults told = troubles_of(world->store);
    assert_told(&told, words[way]);
    assert_all_known(world);
    assert_true(scan_all(world->store).count < count);
    assert_true(store_incomplete_reads(world->store) > 0);
    append_batches(world, "b1", BATCHES + 1, BATCHES + 1);
    close_store(world);
  }
  open_store(world);
}

/* Locked by another program, which a start must bear. */
static void a_day_that_cannot_be_looked_at_hides_no_other(void **state) {
  struct world *world = *state;
  char later[DAY_PATH_BYTES];
  sqlite3 *other = NULL;
  uint64_t records = append_sized(world, 10, 0);
  append_sized(world, 11, records);
  scan_all(world->store);
  close_store(world);
  assert_int_equal(day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS) + 1, later), 0);
  assert_int_equal(unlink(later), 0);
  assert_int_equal(sqlite3_open(day_path(world, DAY_WINDOWS), &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT",
                                NULL, NULL, NULL),
                   SQLITE_OK);
  open_store(world);
  struct told_faults told = troubles_of(world->store);
  assert_told(&told, strrchr(later, '/') + 1);
  sqlite3_close(other);
}

static void a_day_that_goes_while_it_is_open_is_begun_anew_and_told(void **state) {
  struct world *world = *state;
  append_batches(world, "b1", 1, 2);
  scan_all(world->store);
  assert_int_equal(unlink(day_path(world, DAY_WINDOWS)), 0);
  append_batches(world, "b1", 3, 3);
  for (unsigned tries = 0; tries < 200 && troubles_of(world->store).count == 0; tries++)
    usleep(50 * 1000);
  struct told_faults told = troubles_of(world->store);
  assert_told(&told, "is gone or empty");
  uint64_t count = scan_all(world->store).count;
  assert_true(count > 0);
  reopen_store(world);
  assert_int_equal(scan_all(world->store).count, count);
}

static void sums_that_are_gone_or_older_are_told(void **state) {
  struct world *world = *state;
  char older[160];
  append_hours(world, "b1", 2);
  scan_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  close_store(world);
  snprintf(older, sizeof older, "%s/older-sums", world->dir);
  copy_file(day_path(world, DAY_HOURS), older);
  open_store(world);
  assert_nothing_told(world);
  append_hours(world, "b2", 3);
  scan_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  close_store(world);
  copy_file(older, day_path(world, DAY_HOURS));
  assert_int_equal(unlink(day_path(world, DAY_MINUTES)), 0);
  open_store(world);
  struct told_faults told = troubles_of(world->store);
  assert_int_equal(told.count, 2);
  assert_non_null(strstr(told.text, "hours-2026-01-01.db is an older copy"));
  assert_non_null(strstr(told.text, "minutes-2026-01-01.db is gone or empty"));
}

/* Without access.db and landing.db only the files themselves contain the store's id. */
static void sums_outlive_the_loss_of_all_that_knows_them(void **state) {
  struct world *world = *state;
  uint64_t before = 0, after = 0;
  append_hours(world, "b1", 2);
  scan_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  for (unsigned way = 0; way < 2; way++) {
    close_store(world);
    assert_int_equal(marks_peek(world->dir, "landing.db", MARKS_STORE, &before), 1);
    assert_int_equal(unlink(path_of(world, "landing.db")), 0);
    if (way == 1) assert_int_equal(unlink(day_path(world, DAY_WINDOWS)), 0);
    for (unsigned starts = 0; starts < 2; starts++) {
      open_store(world);
      assert_true(has_file(world, DAY_MINUTES) && has_file(world, DAY_HOURS));
      struct told_faults told = troubles_of(world->store);
      if (strstr(told.text, "another collector's") != NULL) fail_msg("%s", told.text);
      if (starts == 0) close_store(world);
    }
    assert_int_equal(marks_peek(world->dir, "landing.db", MARKS_STORE, &after), 1);
    if (way == 0) assert_int_equal(after, before); /* as the windows have it */
  }
}

static void what_retention_deletes_is_no_loss(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 2);
  scan_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(retain_by_age(world, UINT64_MAX / 2, UINT64_MAX / 2), 0);
  assert_false(has_file(world, DAY_WINDOWS));
  assert_nothing_told(world);
  reopen_store(world);
  assert_nothing_told(world);
  const struct store_keep none = {.days_ms = UINT64_MAX / 2};
  assert_int_equal(store_retain(world->store, &none), 0);
  reopen_store(world);
  assert_nothing_told(world);
}

static void a_landing_file_that_is_replaced_takes_nothing(void **state) {
  struct world *world = *state;
  append_batches(world, "b1", 1, 1);
  assert_int_equal(unlink(path_of(world, "landing.db")), 0);
  assert_int_equal(append_new(world->store, "b1", RUN, 2, NOON_MS), STORE_FAILED);
  struct told_faults told = troubles_of(world->store);
  assert_told(&told, "landing.db is gone");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_lost_landing_file_counts_no_batch_twice),
      TEST(batches_after_a_mend_are_taken),
      TEST(ids_behind_a_day_with_no_batch_lacking_are_no_loss),
      TEST(a_board_of_a_mended_ledger_was_seen_on_its_last_day),
      TEST(another_stores_landing_file_is_set_aside),
      TEST(a_day_that_is_gone_or_older_is_told),
      TEST(a_day_that_cannot_be_looked_at_hides_no_other),
      TEST(a_day_that_goes_while_it_is_open_is_begun_anew_and_told),
      TEST(sums_that_are_gone_or_older_are_told),
      TEST(sums_outlive_the_loss_of_all_that_knows_them),
      TEST(what_retention_deletes_is_no_loss),
      TEST(a_landing_file_that_is_replaced_takes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
