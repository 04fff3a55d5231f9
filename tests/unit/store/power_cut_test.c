/* SPDX-License-Identifier: Apache-2.0 */
/* The power fails at each moment of a store's life: every acked batch exists once, and every
   database is sound. Then it fails again during the recovery. Rollup and retention run too. */
#include "disk_model_fixture.h"
#include "store_fixture.h"

#include "store/day_folder.h"

#include <dirent.h>
#include <sqlite3.h>

enum {
  BATCHES = 9,       /* over three days, in groups of up to three */
  SHORT_STRIDE = 17, /* of the moments of a power cut; TORTURE_LONG takes all */
  AGAIN_STRIDE = 71, /* of those with a second cut during recovery */
  SECOND_CUTS = 3,
  SEEDS = 60,
};

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

int __wrap_unlink(const char *path) {
  int result = __real_unlink(path);
  if (result == 0) disk_unlinked(path);
  return result;
}

static bool is_long(void) {
  return getenv("TORTURE_LONG") != NULL;
}

static const char *const cut_names[DISK_CUTS] = {"loses all", "keeps all", "keeps some"};

static uint64_t start_of(uint64_t seq) {
  return NOON_MS + seq % 3 * DAY_MS + seq * 1000;
}

static void empty_dir(char *dir) {
  remove_dir(dir);
  if (mkdir(dir, 0700) != 0) fail_msg("%s cannot be made", dir);
}

/* The finest data is deleted once it is in sums: of the first day windows, five minutes and hours,
   of the second windows, of the third most of these. */
static void grow_old(struct store *store) {
  const struct store_keep keep = {.windows_ms = NOON_MS + 2 * DAY_MS + TIER_HOUR_MS,
                                  .minutes_ms = NOON_MS + DAY_MS,
                                  .hours_ms = NOON_MS + DAY_MS};
  assert_int_equal(store_roll(store), 0);
  assert_int_equal(store_retain(store, &keep), 0);
}

static bool has_windows(const char *dir) {
  return day_folder_bytes(dir, DAY_WINDOWS, day_of(NOON_MS)) > 0;
}

static void hear_of_board(struct store *store) {
  const struct store_board_seen seen = {.board = "b1", .arch = "riscv64", .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(store, &seen), 0);
}

/* A change of losses settles as batches do. */
static void hear_of_losses(struct store *store, uint64_t lost) {
  const struct counters counters = {
      .run = 1, .produced = 1 << 20, .dropped = {[LOSS_RING_FULL] = lost}};
  const struct store_board_seen seen = {.board = "b1", .counters = &counters, .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(store, &seen), 0);
}

static void append_group(struct store *store, uint64_t seq, size_t count) {
  struct made_batch made[3];
  struct store_append group[3];
  for (size_t i = 0; i < count; i++) {
    make_batch(&made[i], 1, seq + i);
    seal_batch(&made[i]);
    group[i] = append_of(&made[i], "b1", start_of(seq + i));
  }
  assert_int_equal(store_append(store, group, count), 0);
  disk_promise(seq + count - 1);
  for (size_t i = 0; i < count; i++) free_batch(&made[i]);
}

/* Runs a store from nothing; each ack is a promise. */
static void live(const char *dir) {
  struct store *store = NULL;
  char error[256];
  bool have_windows_gone = false;
  assert_int_equal(store_open(dir, &store, error, sizeof error), 0);
  for (uint64_t seq = 1; seq <= BATCHES;) {
    size_t count = 1 + seq % 3;
    hear_of_board(
        store); /* boards' own figures are not flushed, the following write is */
    append_group(store, seq, count);
    hear_of_losses(store, seq);
    seq += count;
    if (seq % 2 == 0) scan_all(store); /* lets some settle between the appends, some not */
    if (seq % 3 == 0) grow_old(store);
    have_windows_gone = have_windows_gone || (seq == 6 && !has_windows(dir));
  }
  assert_true(have_windows_gone);
  store_close(store);
}

static void check_databases(const char *dir) {
  char path[400];
  DIR *listing = opendir(dir);
  assert_non_null(listing);
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    const char *end = strrchr(entry->d_name, '.');
    sqlite3_stmt *check = NULL;
    sqlite3 *db = NULL;
    if (strstr(entry->d_name, ".corrupt") != NULL) fail_msg("%s was set aside", entry->d_name);
    if (end == NULL || strcmp(end, ".db") != 0) continue;
    snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL), 0);
    assert_int_equal(sqlite3_step(check), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
    sqlite3_close(db);
  }
  closedir(listing);
}

static uint64_t weight_before(uint64_t end) {
  struct made_batch made;
  uint64_t weight = 0;
  for (uint64_t seq = 1; seq < end; seq++) {
    make_batch(&made, 1, seq);
    weight += made.weight;
  }
  return weight;
}

static void fail_on_trouble(void *context, const char *what, const char *why) {
  (void)context;
  fail_msg("%s %s", what, why);
}

/* Opens the state after the cut and counts its content. */
static void check_survivor(const char *dir, uint64_t promised) {
  struct store *store = NULL;
  char error[256] = "";
  uint64_t last = 0;
  if (store_open(dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
  store_troubles(store, fail_on_trouble, NULL);
  assert_int_equal(store_last_seq(store, "b1", 1, &last), 0);
  assert_true(last >= promised);
  assert_int_equal(scan_all(store).weight, weight_before(last + 1));
  assert_int_equal(board_of(store, "b1").stored, scan_all(store).count);
  if (last > 0) assert_books_close(store, "b1");
  assert_int_equal(append_new(store, "b1", 1, last + 1, start_of(last + 1)), STORE_STORED);
  assert_int_equal(scan_all(store).weight, weight_before(last + 2));
  grow_old(store);
  assert_int_equal(scan_all(store).weight, weight_before(last + 2));
  store_close(store);
  check_databases(dir);
}

struct scene {
  char live[64], first[64], second[64];
};

static void make_scene(struct scene *scene) {
  char dir[] = "/tmp/power_cut_test.XXXXXX";
  assert_non_null(mkdtemp(dir));
  snprintf(scene->live, sizeof scene->live, "%s/live", dir);
  snprintf(scene->first, sizeof scene->first, "%s/first", dir);
  snprintf(scene->second, sizeof scene->second, "%s/second", dir);
  empty_dir(scene->live);
}

static void remove_scene(struct scene *scene) {
  *strrchr(scene->live, '/') = '\0';
  remove_dir(scene->live);
}

static void live_recorded(const struct scene *scene, size_t *ret_count) {
  disk_record(scene->live);
  live(scene->live);
  *ret_count = disk_stop();
  assert_true(*ret_count > 100);
}

static void a_power_cut_at_any_write_loses_and_doubles_nothing(void **state) {
  (void)state;
  struct scene scene;
  size_t count = 0, cuts = 0;
  make_scene(&scene);
  live_recorded(&scene, &count);
  for (size_t at = 1; at <= count; at += is_long() ? 1 : SHORT_STRIDE) {
    for (unsigned cut = 0; cut < DISK_CUTS; cut++) {
      if (!is_long() && cut != at / SHORT_STRIDE % DISK_CUTS) continue;
      empty_dir(scene.first);
      uint64_t promised = disk_cut(at, (enum disk_cut)cut, (unsigned)at, scene.first);
      check_survivor(scene.first, promised);
      cuts++;
    }
  }
  print_message("%zu cuts, %s, %s and %s\n", cuts, cut_names[0], cut_names[1], cut_names[2]);
  remove_scene(&scene);
}

static void a_power_cut_during_recovery_changes_nothing(void **state) {
  (void)state;
  struct scene scene;
  size_t count = 0, cuts = 0;
  make_scene(&scene);
  live_recorded(&scene, &count);
  size_t stride = is_long() ? SHORT_STRIDE : AGAIN_STRIDE;
  for (size_t at = stride; at <= count; at += stride) {
    if (at > stride) { /* the recovery replaced the record */
      empty_dir(scene.live);
      live_recorded(&scene, &count);
      if (at > count) break;
    }
    empty_dir(scene.first);
    uint64_t promised = disk_cut(at, DISK_KEEPS_SOME, (unsigned)at, scene.first);
    disk_record(scene.first);
    check_survivor(scene.first, promised);
    size_t second_count = disk_stop();
    for (unsigned i = 0; i < SECOND_CUTS; i++, cuts++) {
      size_t second_at = (at * 7919 + i * 104729) % second_count + 1;
      empty_dir(scene.second);
      disk_cut(second_at, (enum disk_cut)((at + i) % DISK_CUTS), (unsigned)at + i, scene.second);
      check_survivor(scene.second, promised);
    }
  }
  print_message("%zu cuts during recovery\n", cuts);
  remove_scene(&scene);
}

/* Their rows were deleted from the landing file, and nothing has flushed that since they settled.
 */
static void windows_that_went_do_not_come_back_beside_their_sums(void **state) {
  (void)state;
  struct scene scene;
  struct store *store = NULL;
  char error[256];
  make_scene(&scene);
  disk_record(scene.live);
  assert_int_equal(store_open(scene.live, &store, error, sizeof error), 0);
  append_group(store, 1, 3);
  scan_all(store);
  grow_old(store);
  assert_false(has_windows(scene.live));
  for (unsigned i = 0; i < 4; i++) hear_of_board(store);
  size_t count = disk_stop();
  for (unsigned seed = 0; seed < SEEDS; seed++) {
    empty_dir(scene.first);
    check_survivor(scene.first, disk_cut(count, DISK_KEEPS_SOME, seed, scene.first));
  }
  store_close(store);
  remove_scene(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_that_went_do_not_come_back_beside_their_sums),
      cmocka_unit_test(a_power_cut_at_any_write_loses_and_doubles_nothing),
      cmocka_unit_test(a_power_cut_during_recovery_changes_nothing),
  };
  disk_install();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
