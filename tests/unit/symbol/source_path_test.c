/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "symbol/source_path.h"

static void paths_are_joined_and_shortened(void **state) {
  (void)state;
  static const struct {
    const char *folder, *path, *whole;
  } truth[] = {
      {"/b/p", "a.c", "/b/p/a.c"},
      {"/b/p", "/usr/x.h", "/usr/x.h"},
      {"/b/p/build", "../Modules/./x.c", "/b/p/Modules/x.c"},
      {"", "a/../../b.c", "../b.c"},
      {"", "../../b.c", "../../b.c"},
      {"/", "../../b.c", "/b.c"},
      {"./stdio", "../sysdeps//x.c", "sysdeps/x.c"},
      {"./stdio", "./stdio/y.c", "stdio/y.c"},
      {"/b", "", "/b"},
      {"", "<built-in>", "<built-in>"},
  };
  struct buf path = {0};
  for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
    source_path_join(truth[i].folder, truth[i].path, &path);
    assert_string_equal(buf_text(&path), truth[i].whole);
  }
  buf_fini(&path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(paths_are_joined_and_shortened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
