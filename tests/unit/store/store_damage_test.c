/* SPDX-License-Identifier: Apache-2.0 */
/* The store on files that are damaged, of another version, or find no room. */
#include "day_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void a_damaged_day_file_is_set_aside_and_the_others_are_served(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES], aside[DAY_PATH_BYTES + 16];
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 2, NOON_MS + DAY_MS);
  uint64_t second = scan_range(world->store, NOON_MS + DAY_MS / 2, UINT64_MAX).count;
  store_close(world->store);
  day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path);
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

/* The file is sound, and no file of a day. */
static void a_day_file_without_its_tables_is_set_aside(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES], aside[DAY_PATH_BYTES + sizeof ".corrupt"];
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b1", 1, 2, NOON_MS + DAY_MS);
  uint64_t second = scan_range(world->store, NOON_MS + DAY_MS / 2, UINT64_MAX).count;
  scan_all(world->store);
  store_close(world->store);
  day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path);
  change_file(path, "DROP TABLE block");
  open_store(world);
  assert_int_equal(scan_all(world->store).count, second);
  snprintf(aside, sizeof aside, "%s.corrupt", path);
  assert_int_equal(access(aside, F_OK), 0);
}

static void put_aside(struct world *world, const char *name, size_t bytes) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", world->dir, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (size_t at = 0; at < bytes; at += 4096) assert_int_equal(pwrite(fd, path, 1, (off_t)at), 1);
  close(fd);
  usleep(20000); /* file systems' clocks are coarse */
}

static bool is_aside(struct world *world, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", world->dir, name);
  return access(path, F_OK) == 0;
}

static void assert_metric(struct world *world, const char *line) {
  struct buf text = {0};
  store_metrics(world->store, &text);
  if (strstr(buf_text(&text), line) == NULL) fail_msg("no %s in %s", line, buf_text(&text));
  buf_fini(&text);
}

static void damaged_files_are_kept_in_number_and_with_their_days(void **state) {
  struct world *world = *state;
  const struct store_keep any = {.days_ms = 0}, days = {.days_ms = NOON_MS - NOON_MS % DAY_MS},
                          some = {.max_bytes = 64 << 10};
  put_aside(world, "hours-2025-12-31.db.corrupt", 4096);
  put_aside(world, "hours-2025-12-31.db.corrupt-wal", 4096);
  put_aside(world, "day-2026-01-01.db.corrupt-1", 32 << 10);
  put_aside(world, "minutes-2026-01-01.db.corrupt", 32 << 10);
  assert_int_equal(store_retain(world->store, &any), 0);
  assert_metric(world, "\nfleetprof_store_set_aside_files 3\n");
  assert_int_equal(store_retain(world->store, &days), 0);
  assert_false(is_aside(world, "hours-2025-12-31.db.corrupt"));
  assert_false(is_aside(world, "hours-2025-12-31.db.corrupt-wal"));
  assert_metric(world, "\nfleetprof_store_set_aside_files 2\n");
  put_aside(world, "day-2026-01-02.db.corrupt", 4096);
  assert_int_equal(store_retain(world->store, &some), 0); /* the two newest fit */
  assert_false(is_aside(world, "day-2026-01-01.db.corrupt-1"));
  assert_true(is_aside(world, "minutes-2026-01-01.db.corrupt"));
  for (unsigned i = 0; i < 10; i++) {
    char name[64];
    snprintf(name, sizeof name, "day-2026-02-%02u.db.corrupt", i + 1);
    put_aside(world, name, 4096);
  }
  put_aside(world, "notes.corrupt", 4096);
  assert_int_equal(store_retain(world->store, &any), 0);
  assert_metric(world, "\nfleetprof_store_set_aside_files 8\n");
  assert_true(is_aside(world, "day-2026-02-10.db.corrupt"));
  assert_true(is_aside(world, "day-2026-02-03.db.corrupt"));
  assert_false(is_aside(world, "day-2026-02-02.db.corrupt"));
  assert_true(is_aside(world, "notes.corrupt"));
}

static void settling_into_a_damaged_file_begins_a_fresh_one(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES];
  day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path);
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
  struct store *other = NULL;
  store_close(world->store);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  change_file(path, "PRAGMA user_version=99");
  assert_int_equal(store_open(world->dir, &other, error, sizeof error), -EPROTO);
  assert_non_null(strstr(error, "landing.db"));
  assert_non_null(strstr(error, "written by a newer fleetprof"));
  change_file(path, "PRAGMA user_version=2");
  open_store(world);
}

static void count_trouble(void *context, const char *what, const char *why) {
  if (strcmp(what, "landing.db") == 0 && strstr(why, "damaged") != NULL) ++*(unsigned *)context;
}

static void a_damaged_landing_file_is_set_aside_and_told(void **state) {
  struct world *world = *state;
  char path[128];
  unsigned told = 0;
  append_new(world->store, "b1", 1, 1, NOON_MS);
  scan_all(world->store);
  store_close(world->store);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  int fd = open(path, O_RDWR);
  for (off_t at = 4096; at < 16384; at += 8) assert_int_equal(pwrite(fd, "damaged!", 8, at), 8);
  close(fd);
  open_store(world);
  store_troubles(world->store, count_trouble, &told);
  assert_int_equal(told, 1);
  snprintf(path, sizeof path, "%s/landing.db.corrupt", world->dir);
  assert_int_equal(access(path, F_OK), 0);
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_DUPLICATE);
}

/* The blocks of an answer that went without nothing: settling tries again within a second or so. */
static uint64_t blocks_when_settled(struct world *world) {
  for (unsigned tries = 0; tries < 200; tries++) {
    uint64_t stale = store_stale_reads(world->store), blocks = scan_all(world->store).blocks;
    if (store_stale_reads(world->store) == stale) return blocks;
    usleep(100 * 1000);
  }
  fail_msg("it does not settle");
  return 0;
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
  assert_int_equal(blocks_when_settled(world), (stored + 1) * 3);
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
  day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS + DAY_MS), path);
  assert_int_equal(mkdir(path, 0700), 0); /* the second batch's day cannot be opened */
  for (unsigned i = 0; i < 2; i++) {
    make_batch(&made[i], 1, i + 1);
    seal_batch(&made[i]);
    group[i] = append_of(&made[i], "b1", NOON_MS + i * DAY_MS);
  }
  assert_int_equal(store_append(world->store, group, 2), 0);
  assert_true(store_scan(world->store, &scan) < 0); /* an error, not a partial answer */
  assert_int_equal(sums.blocks, 0);
  assert_int_equal(rmdir(path), 0);
  while (store_scan(world->store, &scan) < 0) usleep(50000);
  assert_int_equal(sums.count, made[0].count + made[1].count);
  free_batch(&made[0]);
  free_batch(&made[1]);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_damaged_day_file_is_set_aside_and_the_others_are_served),
      TEST(a_day_file_without_its_tables_is_set_aside),
      TEST(damaged_files_are_kept_in_number_and_with_their_days),
      TEST(settling_into_a_damaged_file_begins_a_fresh_one),
      TEST(a_newer_version_is_refused_with_its_name),
      TEST(a_damaged_landing_file_is_set_aside_and_told),
      TEST(a_full_disk_fails_the_group_and_heals_by_itself),
      TEST(what_cannot_settle_now_settles_later),
      TEST(a_new_landing_file_is_not_mistaken_for_the_old_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
