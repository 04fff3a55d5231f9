/* SPDX-License-Identifier: Apache-2.0 */
/* A folder into a file and back: completely or not at all, and without other processes' files. */
#include "backup/backup.h"
#include "backup/check.h"
#include "backup/folder_walk.h"
#include "identity/access.h"
#include "identity/ca.h"
#include "store/day_folder.h"
#include "store/store.h"
#include "store/store_read.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
  char root[64], data[80], file[128], again[80];
  unsigned left_out, faults;
  char names[512];
  int stop_after; /* calls of on_progress; 0: never */
  struct check_place reached;
};

static int on_progress(void *context, uint64_t done, uint64_t total) {
  struct place *place = context;
  (void)done, (void)total;
  return place->stop_after > 0 && --place->stop_after == 0 ? -EINTR : 0;
}

static void on_left_out(void *context, const char *name, const char *why) {
  struct place *place = context;
  size_t len = strlen(place->names);
  place->left_out++;
  snprintf(place->names + len, sizeof place->names - len, "%s: %s\n", name, why);
}

/* A check's progress: each file begins at the end of the previous one, and all are within the
   whole. */
static int on_file(void *context, const char *name, const struct check_place *place) {
  struct check_place *reached = &((struct place *)context)->reached;
  (void)name;
  assert_int_equal(place->done, reached->done + reached->bytes);
  assert_true(place->total > 0 && place->done + place->bytes <= place->total);
  *reached = *place;
  return 0;
}

static void on_fault(void *context, const char *name, const char *why) {
  on_left_out(context, name, why);
  ((struct place *)context)->faults++;
}

static void write_text(const char *dir, const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
}

static void write_database(const char *dir, const char *name) {
  char path[256];
  sqlite3 *db = NULL;
  snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db,
                                "PRAGMA journal_mode=WAL; CREATE TABLE t(a);"
                                "INSERT INTO t VALUES(randomblob(100000))",
                                NULL, NULL, NULL),
                   SQLITE_OK);
  sqlite3_close(db);
}

static int set_up(void **state) {
  struct place *place = calloc(1, sizeof *place);
  struct store *store = NULL;
  struct access *access = NULL;
  struct ca *ca = NULL;
  char error[256] = "", below[128];
  snprintf(place->root, sizeof place->root, "/tmp/backup_test.XXXXXX");
  if (mkdtemp(place->root) == NULL) return -1;
  snprintf(place->data, sizeof place->data, "%s/data", place->root);
  snprintf(place->file, sizeof place->file, "%s/b.tar", place->root);
  snprintf(place->again, sizeof place->again, "%s/again", place->root);
  if (mkdir(place->data, 0700) != 0) return -1;
  if (store_open(place->data, &store, error, sizeof error) != 0) return -1;
  store_close(store);
  if (access_open(place->data, &access, error, sizeof error) != 0) return -1;
  access_close(access);
  if (ca_open(place->data, &ca, error, sizeof error) != 0) return -1;
  ca_close(ca);
  snprintf(below, sizeof below, "%s/sources", place->data);
  if (mkdir(below, 0700) != 0) return -1;
  write_text(place->data, "sources/half.part", "half an upload");
  write_text(place->data, "of-a-later-version", "kept all the same");
  write_database(place->data, "tiers-of-a-later-version.db");
  *state = place;
  return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static int tear_down(void **state) {
  struct place *place = *state;
  nftw(place->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(place);
  return 0;
}

static struct backup_wish wish_of(struct place *place, const char *dir) {
  return (struct backup_wish){.dir = dir,
                              .file = place->file,
                              .on_progress = on_progress,
                              .on_left_out = on_left_out,
                              .context = place};
}

static int make(struct place *place, char error[256]) {
  struct backup_wish wish = wish_of(place, place->data);
  struct backup_report report;
  return backup_make(&wish, &report, error, 256);
}

static int restore(struct place *place, char error[256]) {
  struct backup_wish wish = wish_of(place, place->again);
  struct backup_report report;
  return backup_restore(&wish, &report, error, 256);
}

static void assert_same_file(const struct place *place, const char *name) {
  char path[160], one[4096], other[4096];
  snprintf(path, sizeof path, "%s/%s", place->data, name);
  int fd = open(path, O_RDONLY);
  ssize_t len = read(fd, one, sizeof one);
  close(fd);
  snprintf(path, sizeof path, "%s/%s", place->again, name);
  fd = open(path, O_RDONLY);
  assert_int_equal(read(fd, other, sizeof other), len);
  close(fd);
  assert_true(len > 0);
  assert_memory_equal(one, other, (size_t)len);
}

static int has(const char *dir, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return access(path, F_OK) == 0;
}

static void all_that_is_kept_comes_back(void **state) {
  struct place *place = *state;
  struct store *store = NULL;
  struct stat status;
  char error[256] = "", path[160];
  if (make(place, error) != 0) fail_msg("%s", error);
  assert_int_equal(stat(place->file, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  if (restore(place, error) != 0) fail_msg("%s", error);
  static const char *const names[] = {"node.key",      "ca/root.key",   "ca/root.pem",
                                      "ca/server.key", "ca/server.pem", "of-a-later-version"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_same_file(place, names[i]);
  assert_true(has(place->again, "access.db"));
  assert_true(has(place->again, "tiers-of-a-later-version.db"));
  assert_false(has(place->again, "sources/half.part"));
  assert_false(has(place->again, FOLDER_RESTORING));
  assert_int_equal(place->left_out, 0);
  snprintf(path, sizeof path, "%s/ca/root.key", place->again);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  assert_int_equal(store_open(place->again, &store, error, sizeof error), 0);
  store_close(store);
}

static void a_folder_with_anything_in_it_is_refused(void **state) {
  struct place *place = *state;
  char error[256] = "";
  assert_int_equal(make(place, error), 0);
  assert_int_equal(mkdir(place->again, 0700), 0);
  write_text(place->again, "somebody's", "work");
  assert_int_equal(restore(place, error), -ENOTEMPTY);
  assert_non_null(strstr(error, "holds something already"));
  assert_true(has(place->again, "somebody's"));
  assert_false(has(place->again, "node.key"));
  assert_false(has(place->again, FOLDER_RESTORING));
}

static void a_damaged_backup_leaves_the_folder_as_it_was(void **state) {
  struct place *place = *state;
  struct stat status;
  char error[256] = "", byte;
  assert_int_equal(make(place, error), 0);
  assert_int_equal(stat(place->file, &status), 0);
  int fd = open(place->file, O_RDWR);
  assert_int_equal(pread(fd, &byte, 1, status.st_size / 2), 1);
  byte ^= 4;
  assert_int_equal(pwrite(fd, &byte, 1, status.st_size / 2), 1);
  close(fd);
  assert_int_equal(restore(place, error), -EBADMSG);
  assert_non_null(strstr(error, "damaged"));
  assert_int_equal(access(place->again, F_OK), -1); /* it was not there */
  assert_int_equal(mkdir(place->again, 0700), 0);
  assert_int_equal(restore(place, error), -EBADMSG);
  assert_false(has(place->again, "node.key"));
  assert_false(has(place->again, "ca"));
  assert_int_equal(truncate(place->file, status.st_size - 1536), 0);
  assert_int_equal(restore(place, error), -EBADMSG);
}

static void a_restore_that_was_stopped_leaves_nothing(void **state) {
  struct place *place = *state;
  char error[256] = "";
  assert_int_equal(make(place, error), 0);
  place->stop_after = 4;
  assert_int_equal(restore(place, error), -EINTR);
  assert_int_equal(access(place->again, F_OK), -1);
}

static void a_restore_that_was_killed_is_known(void **state) {
  struct place *place = *state;
  char error[256] = "";
  assert_int_equal(make(place, error), 0);
  assert_int_equal(backup_look(place->data, error, sizeof error), 0);
  assert_int_equal(mkdir(place->again, 0700), 0);
  write_text(place->again, FOLDER_RESTORING, "");
  assert_int_equal(backup_look(place->again, error, sizeof error), -EBUSY);
  assert_int_equal(restore(place, error), -ENOTEMPTY);
  assert_non_null(strstr(error, "did not end"));
}

static void a_stopped_backup_keeps_the_one_before(void **state) {
  struct place *place = *state;
  struct stat before, after;
  char error[256] = "", part[160];
  assert_int_equal(make(place, error), 0);
  assert_int_equal(stat(place->file, &before), 0);
  place->stop_after = 5;
  assert_int_equal(make(place, error), -EINTR);
  assert_int_equal(stat(place->file, &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  snprintf(part, sizeof part, "%s.part", place->file);
  assert_int_equal(access(part, F_OK), -1);
  snprintf(part, sizeof part, "%s.part.db", place->file);
  assert_int_equal(access(part, F_OK), -1);
  assert_int_equal(make(place, error), 0); /* and a complete one replaces it */
  assert_int_equal(restore(place, error), 0);
}

static void a_file_of_somebody_elses_is_not_overwritten(void **state) {
  struct place *place = *state;
  char error[256] = "";
  write_text(place->root, "b.tar", "a thesis");
  assert_int_equal(make(place, error), -EEXIST);
  assert_non_null(strstr(error, "no backup of a collector"));
  assert_int_equal(restore(place, error), -EBADMSG);
  assert_non_null(strstr(error, "is no backup"));
}

static void a_backup_does_not_lie_in_what_it_copies(void **state) {
  struct place *place = *state;
  char error[256] = "";
  snprintf(place->file, sizeof place->file, "%s/b.tar", place->data);
  assert_int_equal(make(place, error), -EINVAL);
  assert_non_null(strstr(error, "--data itself"));
}

static void a_newer_backup_is_refused_by_its_version(void **state) {
  struct place *place = *state;
  char error[256] = "", path[320];
  snprintf(path, sizeof path, "%s/BACKUP", place->root);
  write_text(place->root, "BACKUP", "fleetprof backup 2\nmoment: x 1\n");
  snprintf(path, sizeof path, "tar -cf %s --format=ustar -C %s BACKUP", place->file, place->root);
  assert_int_equal(system(path), 0);
  assert_int_equal(restore(place, error), -EPROTO);
  assert_non_null(strstr(error, "written by a newer fleetprof"));
  assert_int_equal(access(place->again, F_OK), -1);
}

static void a_damaged_day_is_left_out_and_said(void **state) {
  struct place *place = *state;
  char error[256] = "";
  write_text(place->data, "day-2026-01-01.db",
             "no database at all, and long enough to be none ...."
             "....................................................");
  if (make(place, error) != 0) fail_msg("%s", error);
  assert_int_equal(place->left_out, 1);
  assert_non_null(strstr(place->names, "day-2026-01-01.db: it is damaged"));
  if (restore(place, error) != 0) fail_msg("%s", error);
  assert_int_equal(place->left_out, 2); /* repeated by the restore */
  assert_false(has(place->again, "day-2026-01-01.db"));
}

static unsigned check(struct place *place) {
  struct check_wish wish = {
      .dir = place->data, .on_file = on_file, .on_fault = on_fault, .context = place};
  struct check_report report;
  place->faults = 0;
  place->names[0] = '\0';
  place->reached = (struct check_place){0};
  assert_int_equal(check_folder(&wish, &report), 0);
  assert_int_equal(report.faults, place->faults);
  assert_int_equal(place->reached.done + place->reached.bytes, place->reached.total);
  return place->faults;
}

static void a_check_finds_what_is_damaged(void **state) {
  struct place *place = *state;
  char path[160];
  assert_int_equal(check(place), 0);
  snprintf(path, sizeof path, "%s/tiers-of-a-later-version.db", place->data);
  int fd = open(path, O_WRONLY); /* in the middle, where no look at the beginning would find it */
  for (off_t at = 5 * 4096; at < 6 * 4096; at += 8)
    assert_int_equal(pwrite(fd, "damaged!", 8, at), 8);
  close(fd);
  assert_int_equal(check(place), 1);
  assert_non_null(strstr(place->names, "tiers-of-a-later-version.db"));
  write_text(place->data, "node.key", "too short");
  write_text(place->data, "ca/root.key", "no key");
  assert_int_equal(check(place), 3);
  snprintf(path, sizeof path, "%s/debug", place->data);
  assert_int_equal(mkdir(path, 0700), 0);
  write_text(path, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "");
  assert_int_equal(check(place), 3);
  write_text(path, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "other");
  assert_int_equal(check(place), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(all_that_is_kept_comes_back),
      TEST(a_folder_with_anything_in_it_is_refused),
      TEST(a_damaged_backup_leaves_the_folder_as_it_was),
      TEST(a_restore_that_was_stopped_leaves_nothing),
      TEST(a_restore_that_was_killed_is_known),
      TEST(a_stopped_backup_keeps_the_one_before),
      TEST(a_file_of_somebody_elses_is_not_overwritten),
      TEST(a_backup_does_not_lie_in_what_it_copies),
      TEST(a_newer_backup_is_refused_by_its_version),
      TEST(a_damaged_day_is_left_out_and_said),
      TEST(a_check_finds_what_is_damaged), /* last: this process only looks from then on */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
