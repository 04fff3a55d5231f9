/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/regular-file-test.XXXXXX";

static const char *in(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return path;
}

static int make(void **state) {
  (void)state;
  if (mkdtemp(dir) == NULL || mkfifo(in("fifo"), 0600) < 0) return -1;
  int fd = open(in("file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, "abc", 3) != 3) return -1;
  close(fd);
  char link[128];
  snprintf(link, sizeof link, "%s", in("file"));
  return symlink(link, in("link")) < 0 || symlink("/dev/tty", in("device")) < 0;
}

static int unmake(void **state) {
  static const char *const names[] = {"fifo", "file", "link", "device"};
  (void)state;
  for (unsigned i = 0; i < 4; i++) unlink(in(names[i]));
  return rmdir(dir);
}

static void a_file_is_opened_also_through_a_link(void **state) {
  static const char *const names[] = {"file", "link"};
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    struct stat found;
    char bytes[4];
    int fd = regular_file_open(in(names[i]), &found);
    assert_true(fd >= 0);
    assert_int_equal(found.st_size, 3);
    assert_int_equal(read(fd, bytes, sizeof bytes), 3);
    close(fd);
  }
}

/* Opening /dev/tty fails without a terminal (ENXIO), and the result must not be that error. */
static void what_is_no_file_is_not_even_opened(void **state) {
  static const char *const names[] = {"fifo", "device", "."};
  (void)state;
  struct stat found;
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(regular_file_open(in(names[i]), &found), -EINVAL);
  assert_int_equal(regular_file_open(in("none"), &found), -ENOENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_is_opened_also_through_a_link),
      cmocka_unit_test(what_is_no_file_is_not_even_opened),
  };
  return cmocka_run_group_tests(tests, make, unmake);
}
