/* SPDX-License-Identifier: Apache-2.0 */
#include "common/path.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_name_is_the_last_component(void **state) {
  (void)state;
  assert_string_equal(path_name("/usr/bin/nginx"), "nginx");
  assert_string_equal(path_name("nginx"), "nginx");
  assert_string_equal(path_name(""), "");
  assert_string_equal(path_name("/srv/"), "/srv/");
}

static mode_t mode_of(const char *path) {
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  return status.st_mode & 0777;
}

static void the_last_directory_has_the_mode_and_those_above_are_made_too(void **state) {
  (void)state;
  char dir[] = "/tmp/path-test-XXXXXX", above[64], path[64];
  assert_non_null(mkdtemp(dir));
  mode_t mask = umask(022);
  snprintf(above, sizeof above, "%s/a", dir);
  snprintf(path, sizeof path, "%s/a/b", dir);
  assert_int_equal(path_make_dirs(path, 0700), 0);
  assert_int_equal(mode_of(above), 0755);
  assert_int_equal(mode_of(path), 0700);
  assert_int_equal(path_make_dirs(above, 0700), 0); /* an existing folder is unchanged */
  assert_int_equal(mode_of(above), 0755);
  umask(mask);
  rmdir(path);
  rmdir(above);
  rmdir(dir);
}

static void what_cannot_be_made_says_why(void **state) {
  (void)state;
  char longest[PATH_MAX + 1];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(path_make_dirs(longest, 0700), -ENAMETOOLONG);
  assert_int_equal(path_make_dirs("/dev/null/a", 0700), -ENOTDIR);
  assert_int_equal(path_make_dirs("", 0700), -ENOENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_is_the_last_component),
      cmocka_unit_test(the_last_directory_has_the_mode_and_those_above_are_made_too),
      cmocka_unit_test(what_cannot_be_made_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
