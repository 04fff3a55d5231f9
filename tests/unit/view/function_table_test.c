/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions share a row. */
#include "common/arena.h"
#include "view/function_table.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct world {
  struct arena arena;
  struct function_table functions;
};

static struct world world;

static int set_up(void **state) {
  (void)state;
  arena_init(&world.arena, 1 << 20);
  return function_table_init(&world.functions, &world.arena);
}

static int tear_down(void **state) {
  (void)state;
  function_table_fini(&world.functions);
  arena_fini(&world.arena);
  return 0;
}

static uint32_t intern(const char *name, const char *file, uint32_t line) {
  const struct view_function wanted = {.name = name, .module = "tool", .file = file, .line = line};
  uint32_t ret;
  assert_int_equal(function_table_intern(&world.functions, &wanted, false, &ret), 0);
  return ret;
}

static void functions_of_other_files_are_other_rows(void **state) {
  (void)state;
  uint32_t usb = intern("init", "drivers/usb/core.c", 1);
  assert_int_not_equal(intern("init", "drivers/mmc/core.c", 1), usb);
  assert_int_not_equal(intern("init", "drivers/usb/hub.c", 1), usb);
  assert_int_not_equal(intern("init", "core.c", 1), usb);
  assert_int_equal(intern("init", "drivers/usb/core.c", 7), usb);
}

static void another_build_of_the_same_source_is_the_same_row(void **state) {
  (void)state;
  uint32_t first = intern("dictFind", "/build/redis-7.0.1/src/dict.c", 10);
  assert_int_equal(intern("dictFind", "/usr/src/redis/src/dict.c", 12), first);
  uint32_t top = intern("main", "/build/tool-1.0/main.c", 1);
  assert_int_equal(intern("main", "/build/tool-1.1/main.c", 1), top);
  assert_int_equal(intern("main", "/build/tool_2/main.c", 1), top + 1); /* tool_ is not tool- */
  uint32_t numbers = intern("run", "/src/1.2-r0/run.c", 1);
  assert_int_equal(intern("run", "/src/1.3-r5/run.c", 1), numbers);
  assert_int_equal(world.functions.functions[first].line, 10);
}

static void a_function_without_a_file_is_the_one_that_has_its_name(void **state) {
  (void)state;
  uint32_t known = intern("work", "src/work.c", 3);
  assert_int_equal(intern("work", NULL, 0), known);
  uint32_t other = intern("work", "src/other.c", 4);
  uint32_t nobody = intern("work", NULL, 0); /* of either: a row of its own */
  assert_int_not_equal(nobody, known);
  assert_int_not_equal(nobody, other);
  assert_int_equal(intern("work", NULL, 0), nobody);
  assert_int_equal(intern("work", "src/work.c", 3), known);
  assert_int_equal(intern("work", "src/third.c", 3), nobody + 1);
  assert_null(world.functions.functions[nobody].file);
}

static void a_file_that_becomes_known_is_given_to_the_row(void **state) {
  (void)state;
  uint32_t row = intern("late", NULL, 0);
  assert_int_equal(intern("late", "src/late.c", 5), row);
  assert_string_equal(world.functions.functions[row].file, "src/late.c");
  assert_int_equal(world.functions.functions[row].line, 5);
  assert_int_equal(intern("late", NULL, 0), row);
  assert_int_equal(intern("late", "src/late.c", 5), row);
  assert_int_equal(world.functions.count, 2);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(functions_of_other_files_are_other_rows),
      FRESH(another_build_of_the_same_source_is_the_same_row),
      FRESH(a_function_without_a_file_is_the_one_that_has_its_name),
      FRESH(a_file_that_becomes_known_is_given_to_the_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
