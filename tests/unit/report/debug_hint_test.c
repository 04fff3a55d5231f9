/* SPDX-License-Identifier: Apache-2.0 */
#include "common/span.h"
#include "report/debug_hint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static const char *hint_of(const char *path) {
  static char hint[DEBUG_HINT_BYTES];
  struct profile_module module = {.path = path, .id = span_of("\xab\xcd\xef", 3)};
  debug_hint_print(root, &module, hint);
  return hint;
}

static void the_owners_debug_package_is_named(void **state) {
  (void)state;
  assert_string_equal(hint_of("/usr/bin/redis-check-rdb"),
                      "names: install redis-tools-dbgsym (from Debian's debug archive)");
  assert_string_equal(hint_of("/usr/lib/x86_64-linux-gnu/libc.so.6"), "names: install libc6-dbg");
}

static void a_part_of_a_listed_path_owns_nothing(void **state) {
  (void)state;
  static const char general[] =
      "names: put its debug file at /usr/lib/debug/.build-id/ab/cdef.debug, or tell its folder by "
      "--debug DIR";
  assert_string_equal(hint_of("/usr/bin/redis-check"), general);
  assert_string_equal(hint_of("redis-check-rdb"), general);
  assert_string_equal(hint_of(""), general);
}

static int set_up(void **state) {
  char command[1024];
  (void)state;
  snprintf(root, sizeof root, "/tmp/fleetprof-hint-XXXXXX");
  if (mkdtemp(root) == NULL) return -1;
  snprintf(command, sizeof command,
           "mkdir -p %s/var/lib/dpkg/info && cd %s/var/lib/dpkg/info &&"
           " printf '/.\\n/usr/bin\\n/usr/bin/redis-check-rdb\\n' >redis-tools.list &&"
           " printf '/lib/x86_64-linux-gnu/libc.so.6\\n' >libc6:amd64.list &&"
           " ln -s redis-tools.list link.list && printf /usr/bin/x >redis-tools.md5sums",
           root, root);
  return system(command);
}

static int tear_down(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_owners_debug_package_is_named),
      cmocka_unit_test(a_part_of_a_listed_path_owns_nothing),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
