/* SPDX-License-Identifier: Apache-2.0 */
/* Where sockets may be, and which directories are traps. */
#include "intake/intake_format.h"
#include "intake/socket_path.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[] = "/tmp/fleetprof-test-XXXXXX";
static char own[128];
static struct socket_places places;

static int setup(void **state) {
  (void)state;
  memcpy(base + sizeof base - 7, "XXXXXX", 6);
  if (mkdtemp(base) == NULL) return -1;
  places = (struct socket_places){.temp_dir = base, .uid = geteuid()};
  snprintf(own, sizeof own, "%s/fleetprof-%u", base, (unsigned)geteuid());
  return 0;
}

static int teardown(void **state) {
  (void)state;
  rmdir(own);
  unlink(own);
  return rmdir(base);
}

static int find(enum socket_place place, const char *expected) {
  char path[SOCKET_PATH_BYTES] = "";
  int error = socket_path_find(&places, place, path);
  if (error == 0) assert_string_equal(path, expected);
  return error;
}

static void the_systems_is_taken_as_it_is(void **state) {
  (void)state;
  assert_int_equal(find(SOCKET_PLACE_SYSTEM, "/run/fleetprof/" INTAKE_SOCKET_NAME), 0);
}

static void a_runtime_directory_is_the_users_or_it_is_none(void **state) {
  (void)state;
  char ours[160], expected[192];
  snprintf(ours, sizeof ours, "%s/fleetprof", base);
  snprintf(expected, sizeof expected, "%s/%s", ours, INTAKE_SOCKET_NAME);
  places.runtime_dir = base;
  assert_int_equal(find(SOCKET_PLACE_RUNTIME, ""), -ENOENT); /* no daemon has run yet */
  assert_int_equal(mkdir(ours, 0700), 0);
  assert_int_equal(find(SOCKET_PLACE_RUNTIME, expected), 0);
  assert_int_equal(chmod(ours, 0770), 0);
  assert_int_equal(find(SOCKET_PLACE_RUNTIME, ""), -EPERM);
  assert_int_equal(rmdir(ours), 0);
  /* Inherited through su: its owner is another user. */
  places.uid = geteuid() + 1;
  char path[SOCKET_PATH_BYTES];
  assert_int_equal(socket_path_dir(&places, SOCKET_PLACE_RUNTIME, path), -ENOENT);
}

static void no_runtime_directory_is_no_place(void **state) {
  (void)state;
  static const char *const none[] = {NULL, "relative", "/nowhere/at/all", "/etc/passwd"};
  for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
    places.runtime_dir = none[i];
    assert_int_equal(find(SOCKET_PLACE_RUNTIME, ""), -ENOENT);
  }
}

static void a_closed_directory_of_ones_own_is_used(void **state) {
  (void)state;
  char expected[192];
  assert_int_equal(find(SOCKET_PLACE_TEMP, ""), -ENOENT);
  assert_int_equal(mkdir(own, 0700), 0);
  snprintf(expected, sizeof expected, "%s/%s", own, INTAKE_SOCKET_NAME);
  assert_int_equal(find(SOCKET_PLACE_TEMP, expected), 0);
}

static void a_directory_open_to_others_is_refused(void **state) {
  (void)state;
  assert_int_equal(mkdir(own, 0700), 0);
  static const mode_t modes[] = {0701, 0710, 0704, 0770, 0777};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
    assert_int_equal(chmod(own, modes[i]), 0);
    assert_int_equal(find(SOCKET_PLACE_TEMP, ""), -EPERM);
  }
}

static void somebody_elses_directory_is_refused(void **state) {
  (void)state;
  assert_int_equal(mkdir(own, 0700), 0);
  char theirs[128];
  snprintf(theirs, sizeof theirs, "%s/fleetprof-%u", base, (unsigned)geteuid() + 1);
  assert_int_equal(rename(own, theirs), 0);
  places.uid = geteuid() + 1;
  assert_int_equal(find(SOCKET_PLACE_TEMP, ""), -EPERM);
  assert_int_equal(rmdir(theirs), 0);
}

static void a_link_or_a_file_is_refused(void **state) {
  (void)state;
  assert_int_equal(symlink("/run", own), 0);
  assert_int_equal(find(SOCKET_PLACE_TEMP, ""), -EPERM);
  assert_int_equal(unlink(own), 0);
  FILE *file = fopen(own, "w");
  assert_non_null(file);
  fclose(file);
  chmod(own, 0700);
  assert_int_equal(find(SOCKET_PLACE_TEMP, ""), -EPERM);
}

static void a_path_that_does_not_fit_is_refused(void **state) {
  (void)state;
  static char longest[SOCKET_PATH_BYTES];
  memset(longest, 'x', sizeof longest - 1);
  longest[0] = '/';
  places.temp_dir = longest;
  assert_int_equal(find(SOCKET_PLACE_TEMP, ""), -ENAMETOOLONG);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(the_systems_is_taken_as_it_is),
      CLAIM(a_runtime_directory_is_the_users_or_it_is_none),
      CLAIM(no_runtime_directory_is_no_place),
      CLAIM(a_closed_directory_of_ones_own_is_used),
      CLAIM(a_directory_open_to_others_is_refused),
      CLAIM(somebody_elses_directory_is_refused),
      CLAIM(a_link_or_a_file_is_refused),
      CLAIM(a_path_that_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
