/* SPDX-License-Identifier: Apache-2.0 */
/* The saved state of clocks is read back as written, or not at all. */
#include "ingest/trusted_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], path[80];

static const struct trusted_kept sample = {.boot_id = {1, 2, 3, 255},
                                           .offset_ns = 1790000000123456789,
                                           .steady_since_ns = 17,
                                           .agreed_ns = UINT64_MAX,
                                           .latest_ns = 1};

static int begin(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/trusted_file.XXXXXX");
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/clock", dir);
  return 0;
}

static int end(void **state) {
  (void)state;
  unlink(path);
  return rmdir(dir); /* nothing half made is left */
}

static void write_bytes(const char *bytes, size_t len) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, len, file), len);
  fclose(file);
}

static void it_comes_back_and_is_its_owners_alone(void **state) {
  (void)state;
  struct trusted_kept kept;
  struct stat status;
  umask(0);
  assert_int_equal(trusted_file_read(dir, &kept), -ENOENT);
  assert_int_equal(trusted_file_write(dir, &sample), 0);
  assert_int_equal(trusted_file_write(dir, &sample), 0); /* again: it is replaced */
  assert_int_equal(trusted_file_read(dir, &kept), 0);
  assert_memory_equal(&kept, &sample, sizeof kept);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 07777, 0600);
}

static void what_is_cut_or_changed_counts_as_none(void **state) {
  (void)state;
  static const struct trusted_kept none;
  char line[512];
  struct trusted_kept kept;
  assert_int_equal(trusted_file_write(dir, &sample), 0);
  FILE *file = fopen(path, "r");
  size_t len = fread(line, 1, sizeof line, file);
  fclose(file);
  for (size_t i = 0; i < len; i++) {
    write_bytes(line, i);
    assert_int_equal(trusted_file_read(dir, &kept), -EBADMSG);
    assert_memory_equal(&kept, &none, sizeof kept);
    for (int bit = 0; bit < 8; bit++) {
      line[i] ^= (char)(1 << bit);
      write_bytes(line, len);
      assert_int_equal(trusted_file_read(dir, &kept), -EBADMSG);
      line[i] ^= (char)(1 << bit);
    }
  }
  write_bytes(line, len);
  assert_int_equal(trusted_file_read(dir, &kept), 0);
}

static void no_other_file_is_read_or_followed(void **state) {
  (void)state;
  struct trusted_kept kept;
  char long_line[4096];
  memset(long_line, '1', sizeof long_line);
  write_bytes(long_line, sizeof long_line);
  assert_int_equal(trusted_file_read(dir, &kept), -EBADMSG);
  unlink(path);
  assert_int_equal(symlink("/dev/zero", path), 0);
  assert_int_equal(trusted_file_read(dir, &kept), -EBADMSG);
  assert_int_equal(trusted_file_write("/nowhere", &sample), -ENOENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(it_comes_back_and_is_its_owners_alone, begin, end),
      cmocka_unit_test_setup_teardown(what_is_cut_or_changed_counts_as_none, begin, end),
      cmocka_unit_test_setup_teardown(no_other_file_is_read_or_followed, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
