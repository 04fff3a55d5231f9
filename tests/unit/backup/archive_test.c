/* SPDX-License-Identifier: Apache-2.0 */
/* Archives: the packed files are unpacked, or none of them is accepted. */
#include "backup/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES_MAX = 1 << 16 };

struct place {
  char dir[64], file[80], part[96];
};

static int set_up(void **state) {
  struct place *place = calloc(1, sizeof *place);
  snprintf(place->dir, sizeof place->dir, "/tmp/archive_test.XXXXXX");
  if (mkdtemp(place->dir) == NULL) return -1;
  snprintf(place->file, sizeof place->file, "%s/a.tar", place->dir);
  snprintf(place->part, sizeof place->part, "%s.part", place->file);
  *state = place;
  return 0;
}

static int tear_down(void **state) {
  struct place *place = *state;
  unlink(place->file);
  unlink(place->part);
  assert_int_equal(rmdir(place->dir), 0); /* nothing else was left */
  free(place);
  return 0;
}

static const char text[] = "what it is";
static const char content[] = "some bytes that are not as many as a block holds";

static struct archive *begin(const struct place *place) {
  struct archive *archive = NULL;
  char error[256] = "";
  if (archive_create(place->file, &archive, error, sizeof error) != 0) fail_msg("%s", error);
  return archive;
}

static void make(const struct place *place) {
  struct tar_member member = {.name = "folder/content", .size = sizeof content, .mode = 0600};
  struct archive *archive = begin(place);
  int fd = open(place->dir, O_TMPFILE | O_RDWR, 0600);
  assert_int_equal(write(fd, content, sizeof content), sizeof content);
  assert_int_equal(archive_add_text(archive, "TITLE", span_of_string(text)), 0);
  assert_int_equal(archive_add(archive, &member, fd), 0);
  assert_int_equal(archive_finish(archive), 0);
  archive_close(archive);
  close(fd);
}

/* Reads all of the archive.  Returns 0 when it ends well, the number of members in RET. */
static int read_all(const char *file, int *ret) {
  struct archive *archive = NULL;
  struct tar_member member;
  char bytes[256];
  int row, count = 0;
  assert_int_equal(archive_open(file, &archive), 0);
  while ((row = archive_next(archive, &member)) == 1) {
    int error = member.size < sizeof bytes ? archive_extract_text(archive, bytes) : 0;
    if (error != 0) row = error;
    if (error != 0) break;
    count++;
  }
  archive_close(archive);
  *ret = count;
  return row;
}

static void what_is_put_in_comes_out(void **state) {
  struct place *place = *state;
  struct tar_member member;
  struct archive *archive = NULL;
  struct stat status;
  char bytes[sizeof content] = "";
  make(place);
  assert_int_equal(stat(place->file, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0600);
  assert_int_equal(archive_open(place->file, &archive), 0);
  assert_int_equal(archive_next(archive, &member), 1);
  assert_string_equal(member.name, "TITLE");
  assert_int_equal(archive_extract_text(archive, bytes), 0);
  assert_memory_equal(bytes, text, sizeof text - 1);
  assert_int_equal(archive_next(archive, &member), 1);
  int fd = open(place->dir, O_TMPFILE | O_RDWR, 0600);
  assert_int_equal(archive_extract(archive, fd), 0);
  assert_int_equal(pread(fd, bytes, sizeof bytes, 0), sizeof content);
  assert_memory_equal(bytes, content, sizeof content);
  assert_int_equal(archive_next(archive, &member), 0);
  assert_int_equal(archive_next(archive, &member), 0);
  archive_close(archive);
  close(fd);
}

static void members_that_nobody_takes_are_checked_all_the_same(void **state) {
  struct place *place = *state;
  struct tar_member member;
  struct archive *archive = NULL;
  make(place);
  assert_int_equal(archive_open(place->file, &archive), 0);
  assert_int_equal(archive_next(archive, &member), 1);
  assert_int_equal(archive_next(archive, &member), 1);
  assert_int_equal(archive_next(archive, &member), 0);
  archive_close(archive);
}

static size_t load(const char *path, uint8_t *bytes) {
  int fd = open(path, O_RDONLY);
  ssize_t len = read(fd, bytes, BYTES_MAX);
  close(fd);
  assert_true(len > 0);
  return (size_t)len;
}

static void store(const char *path, const uint8_t *bytes, size_t len) {
  int fd = open(path, O_WRONLY | O_TRUNC);
  assert_int_equal(write(fd, bytes, len), (ssize_t)len);
  close(fd);
}

static void a_flipped_bit_is_never_believed(void **state) {
  struct place *place = *state;
  static uint8_t bytes[BYTES_MAX];
  int count;
  make(place);
  size_t len = load(place->file, bytes) - TAR_BLOCK_BYTES; /* the second of two blocks at the end */
  for (size_t at = 0; at < len; at++) {
    bool ends_a_sum = at % TAR_BLOCK_BYTES == 154 || at % TAR_BLOCK_BYTES == 155;
    if (ends_a_sum) continue; /* blank or NUL: the number is the same */
    bytes[at] ^= 1;
    store(place->file, bytes, len + TAR_BLOCK_BYTES);
    if (read_all(place->file, &count) != -EBADMSG) fail_msg("byte %zu was believed", at);
    bytes[at] ^= 1;
  }
  store(place->file, bytes, len + TAR_BLOCK_BYTES);
  assert_int_equal(read_all(place->file, &count), 0);
  assert_int_equal(count, 2);
}

static void an_archive_that_was_cut_is_never_believed(void **state) {
  struct place *place = *state;
  static uint8_t bytes[BYTES_MAX];
  int count;
  make(place);
  size_t len = load(place->file, bytes) - TAR_BLOCK_BYTES;
  for (size_t cut = 0; cut < len; cut += 7) {
    store(place->file, bytes, cut);
    assert_int_equal(read_all(place->file, &count), -EBADMSG);
  }
}

static void what_was_not_finished_leaves_nothing(void **state) {
  struct place *place = *state;
  struct archive *archive = begin(place);
  assert_int_equal(access(place->part, F_OK), 0);
  assert_int_equal(archive_add_text(archive, "TITLE", span_of_string(text)), 0);
  archive_close(archive);
  assert_int_equal(access(place->part, F_OK), -1);
  assert_int_equal(access(place->file, F_OK), -1);
}

static void what_a_killed_one_left_is_taken_over(void **state) {
  struct place *place = *state;
  int fd = open(place->part, O_WRONLY | O_CREAT, 0666), count;
  for (int i = 0; i < 1000; i++) assert_int_equal(write(fd, "left over", 9), 9);
  close(fd);
  make(place);
  assert_int_equal(read_all(place->file, &count), 0);
}

static void two_at_once_are_kept_apart(void **state) {
  struct place *place = *state;
  struct archive *first = begin(place), *second = NULL;
  char error[256] = "";
  assert_int_equal(archive_create(place->file, &second, error, sizeof error), -EWOULDBLOCK);
  assert_non_null(strstr(error, "another backup"));
  archive_close(first);
}

static int stop(void *context, uint64_t bytes) {
  (void)bytes;
  return *(int *)context;
}

static void whoever_watches_can_stop_it(void **state) {
  struct place *place = *state;
  struct tar_member member = {.name = "content", .size = sizeof content, .mode = 0600};
  struct archive *archive = begin(place);
  int answer = -EINTR;
  int fd = open(place->dir, O_TMPFILE | O_RDWR, 0600);
  assert_int_equal(write(fd, content, sizeof content), sizeof content);
  archive_on_progress(archive, stop, &answer);
  assert_int_equal(archive_add(archive, &member, fd), -EINTR);
  member.size++;
  answer = 0;
  assert_int_equal(archive_add(archive, &member, fd), -ENODATA);
  archive_close(archive);
  close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_is_put_in_comes_out),
      TEST(members_that_nobody_takes_are_checked_all_the_same),
      TEST(a_flipped_bit_is_never_believed),
      TEST(an_archive_that_was_cut_is_never_believed),
      TEST(what_was_not_finished_leaves_nothing),
      TEST(what_a_killed_one_left_is_taken_over),
      TEST(two_at_once_are_kept_apart),
      TEST(whoever_watches_can_stop_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
