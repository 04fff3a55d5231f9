/* SPDX-License-Identifier: Apache-2.0 */
/* The default state of an ordinary user; the test runs as one for the time of the check. */
#include "cli/paths.h"

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

enum { NOBODY = 65534 };

static char home[64];
static struct path usual;

static int set_up(void **state) {
  (void)state;
  struct path parent;
  if (geteuid() == 0 && seteuid(NOBODY) != 0) return -1;
  snprintf(home, sizeof home, "/tmp/paths-test-XXXXXX");
  if (mkdtemp(home) == NULL) return -1;
  setenv("XDG_STATE_HOME", home, 1);
  setenv("XDG_RUNTIME_DIR", home, 1);
  return paths_state(NULL, &usual) != 0 || paths_join(home, "link", &parent) != 0 ||
         symlink(home, parent.text) != 0;
}

static int tear_down(void **state) {
  (void)state;
  char command[96];
  if (getuid() == 0 && seteuid(0) != 0) return -1; /* the leak checker needs the original user */
  snprintf(command, sizeof command, "rm -rf %s", home);
  return system(command);
}

static void the_default_directory_is_known_by_each_of_its_names(void **state) {
  (void)state;
  struct path other;
  assert_true(paths_is_usual_state(usual.text)); /* before it exists, too */
  assert_int_equal(paths_join(usual.text, "", &other), 0);
  assert_true(paths_is_usual_state(other.text));
  assert_int_equal(mkdir(usual.text, 0700), 0);
  assert_int_equal(paths_join(home, "link/fleetprof", &other), 0);
  assert_true(paths_is_usual_state(other.text));
  assert_int_equal(chdir(home), 0);
  assert_true(paths_is_usual_state("fleetprof"));
}

static void any_other_directory_is_not(void **state) {
  (void)state;
  assert_false(paths_is_usual_state(home));
  assert_false(paths_is_usual_state("/nowhere/fleetprof"));
  assert_false(paths_is_usual_state("/"));
}

static void who_names_the_default_means_the_usual_places_too(void **state) {
  (void)state;
  static struct path_list none, given, other;
  assert_int_equal(paths_sockets(NULL, &none), 0);
  assert_int_equal(paths_sockets(usual.text, &given), 0);
  assert_int_equal(given.count, none.count + 1);
  for (unsigned i = 0; i < none.count; i++)
    assert_string_equal(given.paths[i + 1].text, none.paths[i].text);
  assert_int_equal(paths_sockets(home, &other), 0);
  assert_int_equal(other.count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_default_directory_is_known_by_each_of_its_names),
      cmocka_unit_test(any_other_directory_is_not),
      cmocka_unit_test(who_names_the_default_means_the_usual_places_too),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
