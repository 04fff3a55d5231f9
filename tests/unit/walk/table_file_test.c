/* SPDX-License-Identifier: Apache-2.0 */
#include "table_fixture.h"
#include "walk/table_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *folder;
static struct buf table;

static int make(void **state) {
  (void)state;
  folder = fixture_folder();
  table = (struct buf){0};
  fixture_table(16, &table);
  return folder != NULL ? 0 : -1;
}

static int unmake(void **state) {
  (void)state;
  buf_fini(&table);
  fixture_folder_remove();
  return 0;
}

static int keep(uint8_t first, uint64_t bytes_max) {
  struct table_wanted wanted = fixture_wanted(first);
  struct table_mark mark = fixture_mark(&wanted, TABLE_READY);
  return table_file_keep(folder, buf_span(&table), &mark, bytes_max);
}

/* Opens and reads the file of the module FIRST. */
static int read_kept(uint8_t first, struct table_file *ret) {
  struct table_wanted wanted = fixture_wanted(first);
  int fd = table_file_open(folder, fixture_id(&wanted));
  if (fd < 0) return fd;
  int error = table_file_read(fd, fixture_id(&wanted), ret);
  close(fd);
  return error;
}

static void what_is_kept_is_read_again(void **state) {
  (void)state;
  struct table_file file;
  assert_int_equal(keep(1, UNWIND_CACHE_BYTES_MAX), 0);
  assert_int_equal(read_kept(1, &file), 0);
  assert_int_equal(file.state, TABLE_READY);
  assert_int_equal(file.table->total_bytes, FIXTURE_TABLE_BYTES);
  assert_int_equal(unwind_table_find(file.table, 0x10)->offset, 16);
  table_file_unmap(&file);
  assert_int_equal(read_kept(2, &file), -ENOENT);
  assert_int_equal(fixture_files(), 1);
}

static void a_module_with_nothing_to_say_has_a_mark_and_no_table(void **state) {
  (void)state;
  struct table_wanted wanted = fixture_wanted(1);
  struct table_mark mark = fixture_mark(&wanted, TABLE_NOTHING);
  struct table_file file;
  snprintf(mark.why, sizeof mark.why, "because");
  assert_int_equal(table_file_keep(folder, span_of(NULL, 0), &mark, 1 << 20), 0);
  assert_int_equal(read_kept(1, &file), 0);
  assert_int_equal(file.state, TABLE_NOTHING);
  assert_null(file.table);
  assert_string_equal(file.why, "because");
}

static void path_of(uint8_t first, char path[512]) {
  char name[TABLE_FILE_NAME_BYTES];
  struct table_wanted wanted = fixture_wanted(first);
  table_file_name(fixture_id(&wanted), name);
  snprintf(path, 512, "%s/%s", folder, name);
}

static void a_spoilt_file_is_never_used(void **state) {
  (void)state;
  struct table_file file;
  struct stat found;
  char path[512];
  assert_int_equal(keep(1, UNWIND_CACHE_BYTES_MAX), 0);
  path_of(1, path);
  assert_int_equal(stat(path, &found), 0);
  for (off_t at = 0; at < found.st_size; at++) {
    int fd = open(path, O_RDWR);
    uint8_t byte = 0, other;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    other = byte ^ 0x40;
    assert_int_equal(pwrite(fd, &other, 1, at), 1);
    int error = read_kept(1, &file);
    /* Of the mark, the words and the unused end of the id may be anything. */
    bool is_free =
        at >= found.st_size - TABLE_FILE_WHY_BYTES ||
        (at >= FIXTURE_TABLE_BYTES + 32 + 20 && at < found.st_size - TABLE_FILE_WHY_BYTES);
    if (!is_free) assert_true(error == -EBADMSG || error == -EPROTO);
    if (error == 0) table_file_unmap(&file);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
  }
  for (off_t size = 0; size < found.st_size; size += 7) {
    assert_int_equal(truncate(path, size), 0);
    assert_int_not_equal(read_kept(1, &file), 0);
  }
}

static void a_table_of_an_earlier_format_is_not_read(void **state) {
  (void)state;
  struct table_file file;
  struct table_mark mark;
  struct stat found;
  char path[512];
  assert_int_equal(keep(1, UNWIND_CACHE_BYTES_MAX), 0);
  path_of(1, path);
  assert_int_equal(stat(path, &found), 0);
  off_t at = found.st_size - (off_t)sizeof mark;
  int fd = open(path, O_RDWR);
  assert_int_equal(pread(fd, &mark, sizeof mark, at), sizeof mark);
  assert_int_equal(mark.table_version, UNWIND_TABLE_VERSION);
  mark.table_version--;
  assert_int_equal(pwrite(fd, &mark, sizeof mark, at), sizeof mark);
  close(fd);
  assert_int_equal(read_kept(1, &file), -EPROTO);
}

static void a_file_of_another_module_is_not_taken_for_this_one(void **state) {
  (void)state;
  struct table_file file;
  char from[512], to[512];
  assert_int_equal(keep(1, UNWIND_CACHE_BYTES_MAX), 0);
  path_of(1, from);
  path_of(2, to);
  assert_int_equal(rename(from, to), 0);
  assert_int_equal(read_kept(2, &file), -EPROTO);
}

static void what_was_not_used_for_the_longest_time_goes_first(void **state) {
  (void)state;
  struct table_file file;
  const uint64_t one = FIXTURE_TABLE_BYTES + sizeof(struct table_mark);
  for (uint8_t first = 1; first <= 3; first++) {
    char path[512];
    struct timespec long_ago[2] = {{1000 + first, 0}, {1000 + first, 0}};
    assert_int_equal(keep(first, 3 * one), 0);
    path_of(first, path);
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
  }
  assert_int_equal(read_kept(1, &file), 0); /* a use */
  table_file_unmap(&file);
  assert_int_equal(keep(4, 3 * one), 0);
  assert_int_equal(table_file_sum(folder), 3 * one);
  assert_int_equal(read_kept(2, &file), -ENOENT);
  assert_int_equal(read_kept(1, &file), 0);
  table_file_unmap(&file);
  assert_int_equal(keep(5, one - 1), -EFBIG);
}

static void a_folder_that_is_not_there_or_a_link_is_done_without(void **state) {
  (void)state;
  char link[128];
  struct table_wanted wanted = fixture_wanted(1);
  struct table_mark mark = fixture_mark(&wanted, TABLE_READY);
  assert_int_equal(table_file_keep("/nowhere/tables", buf_span(&table), &mark, 1 << 20), -ENOENT);
  snprintf(link, sizeof link, "%s/link", folder);
  assert_int_equal(symlink("/tmp", link), 0);
  assert_true(table_file_keep(link, buf_span(&table), &mark, 1 << 20) < 0);
  assert_true(table_file_open(link, fixture_id(&wanted)) < 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_kept_is_read_again, make, unmake),
      cmocka_unit_test_setup_teardown(a_module_with_nothing_to_say_has_a_mark_and_no_table, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(a_spoilt_file_is_never_used, make, unmake),
      cmocka_unit_test_setup_teardown(a_table_of_an_earlier_format_is_not_read, make, unmake),
      cmocka_unit_test_setup_teardown(a_file_of_another_module_is_not_taken_for_this_one, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(what_was_not_used_for_the_longest_time_goes_first, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_or_a_link_is_done_without, make,
                                      unmake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
