/* SPDX-License-Identifier: Apache-2.0 */
/* A single function of one file, with code included from anywhere. */
#include "elf_fixture.h"

#include "symbol/symbol_index.h"
#include "symbol/told_frames.h"

static void a_function_is_declared_where_it_is_known_to_be(void **state) {
  (void)state;
  static const struct symbol_frame known[] = {
      {.name = "get()\0_Z3getv", .is_readable = true, .decl_file = "get.h", .decl_line = 3},
      {.name = "print", .decl_file = "print.c", .decl_line = 40},
      {.name = "start"}};
  struct symbol_frame told[] = {{.name = "_Z3getv", .file = "part.inc", .line = 7},
                                {.name = "print", .file = "part.inc", .line = 9},
                                {.name = "start", .file = "start.c", .line = 1},
                                {.name = "nobodys", .file = "x.c", .line = 2, .decl_line = 5}};
  told_frames_declare(told, 4, known, 3);
  static const char *const files[] = {"get.h", "print.c", "start.c", "x.c"};
  static const uint32_t lines[] = {3, 40, 0, 0};
  for (int i = 0; i < 4; i++) {
    assert_string_equal(told[i].decl_file, files[i]);
    assert_int_equal(told[i].decl_line, lines[i]);
  }
  assert_string_equal(told[1].file, "part.inc"); /* the line is where it was */
}

static void else_it_is_that_of_its_line(void **state) {
  (void)state;
  struct symbol_frame told[] = {{.name = "print", .file = "part.inc", .line = 9}, {.name = "main"}};
  told_frames_declare(told, 2, NULL, -1);
  assert_string_equal(told[0].decl_file, "part.inc");
  assert_null(told[1].decl_file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_is_declared_where_it_is_known_to_be),
      cmocka_unit_test(else_it_is_that_of_its_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
