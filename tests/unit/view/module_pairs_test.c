/* SPDX-License-Identifier: Apache-2.0 */
/* Builds of one program are compared under any file names; modules that only look alike are not. */
#include "common/arena.h"
#include "view/diff.h"
#include "view/tree_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct side {
  struct tree_builder builder;
  struct view_tree tree;
};

static struct arena arena;
static struct side a, b;
static struct view_diff_row *rows;
static uint32_t count;

static int setup(void **state) {
  (void)state;
  a = b = (struct side){.tree = {.total_weight = 0}};
  arena_init(&arena, 4 << 20);
  return tree_builder_init(&a.builder, &arena) != 0 || tree_builder_init(&b.builder, &arena) != 0;
}

static int teardown(void **state) {
  (void)state;
  arena_fini(&arena);
  return 0;
}

enum { STRETCHES = 24 };

static void add(struct side *side, const char *module, const char *name, const char *file,
                uint64_t samples) {
  const struct view_function wanted = {.name = name, .module = module, .file = file};
  uint32_t function, node;
  assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
  assert_int_equal(tree_builder_child(&side->builder, 0, function, &node), 0);
  for (uint64_t i = 0; i < STRETCHES; i++) { /* evenly: all has units for a verdict */
    uint64_t part = samples * (i + 1) / STRETCHES - samples * i / STRETCHES;
    tree_builder_turn(&side->builder, "", i * 1000, (i + 1) * 1000);
    if (part > 0) tree_builder_add(&side->builder, node, part, 10 * part);
  }
}

/* SIDE is of the COUNT programs at PROGRAMS. */
static void end(struct side *side, const struct view_program *programs, uint32_t program_count) {
  assert_int_equal(tree_builder_finish(&side->builder, &arena, &side->tree), 0);
  tree_builder_fini(&side->builder);
  side->tree.programs = programs;
  side->tree.program_count = program_count;
}

static void compare(void) {
  static const struct view_diff_options options = {
      .measure = VIEW_SHARES, .of = VIEW_SELF, .units = {"run", 1, 1}};
  struct view_diff diff;
  assert_int_equal(view_diff(&a.tree, &b.tree, &options, &arena, &diff), 0);
  rows = diff.rows, count = diff.count;
}

static const struct view_diff_row *find(const char *name, const char *module) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(rows[i].name, name) == 0 && strcmp(rows[i].module, module) == 0) return &rows[i];
  for (uint32_t i = 0; i < count; i++) print_error("%s of %s\n", rows[i].name, rows[i].module);
  fail_msg("no %s of %s", name, module);
  return NULL;
}

static void assert_weights(const char *name, const char *module, uint64_t of_a, uint64_t of_b) {
  const struct view_diff_row *row = find(name, module);
  assert_int_equal(row->a_weight, 10 * of_a);
  assert_int_equal(row->b_weight, 10 * of_b);
}

static void a_version_in_a_file_name_splits_no_function(void **state) {
  static const char *const names[][3] = {
      {"app-1.4", "app-1.5", "app-1.4 -> app-1.5"},
      {"app_v2.0rc1", "app_v2.0", "app_v2.0rc1 -> app_v2.0"},
      {"python3.11", "python3.12", "python3.11 -> python3.12"},
      {"libfoo.so.6", "libfoo.so.7", "libfoo.so.6 -> libfoo.so.7"},
      {"libpython3.11.so.1.0", "libpython3.9.so.1.0",
       "libpython3.11.so.1.0 -> libpython3.9.so.1.0"},
  };
  (void)state;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    add(&a, names[i][0], "parse", "/build/app-1.4/src/parse.c", 6000);
    add(&a, names[i][0], "eval", NULL, 4000);
    add(&b, names[i][1], "parse", "/build/app-1.5/src/parse.c", 3000);
    add(&b, names[i][1], "eval", NULL, 7000);
    end(&a, NULL, 0), end(&b, NULL, 0);
    compare();
    assert_int_equal(count, 2);
    assert_weights("parse", names[i][2], 6000, 3000);
    assert_weights("eval", names[i][2], 4000, 7000);
    assert_int_equal(rows[0].self.verdict, VIEW_CHANGED);
    teardown(NULL), setup(NULL);
  }
  end(&a, NULL, 0), end(&b, NULL, 0);
}

/* Numbers that are no versions, other programs, and modules of both sides. */
static void look_alikes_stay_apart(void **state) {
  static const char *const names[][2] = {
      {"worker-1", "worker-2"}, {"sha256sum", "sha512sum"},
      {"app-1.4", "tool-1.4"},  {"app-1.4", "app"},
      {"1.4", "1.5"},           {"libx.so.1", "libx.a.1"},
  };
  (void)state;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    add(&a, names[i][0], "main", NULL, 100), add(&b, names[i][1], "main", NULL, 100);
    end(&a, NULL, 0), end(&b, NULL, 0);
    compare();
    assert_int_equal(count, 2);
    assert_weights("main", names[i][0], 100, 0);
    assert_weights("main", names[i][1], 0, 100);
    teardown(NULL), setup(NULL);
  }
  add(&a, "python3.10", "main", NULL, 10), add(&a, "python3.11", "main", NULL, 20);
  add(&b, "python3.10", "main", NULL, 30), add(&b, "python3.11", "main", NULL, 40);
  end(&a, NULL, 0), end(&b, NULL, 0);
  compare();
  assert_weights("main", "python3.10", 10, 30);
  assert_weights("main", "python3.11", 20, 40);
}

/* Half of the boards have the new version already. */
static void an_update_that_is_under_way_is_one_program(void **state) {
  (void)state;
  add(&a, "app-1.4", "parse", NULL, 600), add(&a, "app-1.4", "eval", NULL, 400);
  add(&b, "app-1.4", "parse", NULL, 300), add(&b, "app-1.4", "eval", NULL, 200);
  add(&b, "app-1.5", "parse", NULL, 280), add(&b, "app-1.5", "eval", NULL, 220);
  end(&a, NULL, 0), end(&b, NULL, 0);
  compare();
  assert_int_equal(count, 2);
  assert_weights("parse", "app-*", 600, 580);
  assert_weights("eval", "app-*", 400, 420);
}

/* In a pair as in any module: a side has several functions of the name. */
static void functions_of_two_source_files_stay_two_in_a_pair(void **state) {
  (void)state;
  add(&a, "app-1.4", "init", "src/net.c", 100);
  add(&b, "app-1.5", "init", "src/net.c", 200), add(&b, "app-1.5", "init", "src/disk.c", 300);
  end(&a, NULL, 0), end(&b, NULL, 0);
  compare();
  assert_int_equal(count, 2);
  for (uint32_t i = 0; i < count; i++) {
    bool is_net = strcmp(rows[i].file, "src/net.c") == 0;
    assert_int_equal(rows[i].a_weight, is_net ? 1000 : 0);
    assert_int_equal(rows[i].b_weight, is_net ? 2000 : 3000);
  }
}

static void what_one_service_runs_is_one_program(void **state) {
  static const struct view_program before[] = {{"shop", "app.old"}, {"cache", "redis"}};
  static const struct view_program after[] = {{"cache", "valkey"}, {"shop", "app.new"}};
  (void)state;
  add(&a, "app.old", "main", NULL, 100), add(&a, "redis", "main", NULL, 200);
  add(&b, "app.new", "main", NULL, 300), add(&b, "valkey", "main", NULL, 400);
  end(&a, before, 2), end(&b, after, 2);
  compare();
  assert_int_equal(count, 2);
  assert_weights("main", "app.old -> app.new", 100, 300);
  assert_weights("main", "redis -> valkey", 200, 400);
}

/* Two services, a service of several programs, and a service whose program the other side also has.
 */
static void programs_of_which_nobody_says_that_they_are_one_are_two(void **state) {
  static const struct view_program one[] = {{"shop", "web"}}, other[] = {{"cache", "redis"}};
  static const struct view_program several[] = {{"shop", "nginx"}, {"shop", "redis"}},
                                   same[] = {{"shop", "redis"}};
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    add(&a, "web", "main", NULL, 100), add(&b, "redis", "main", NULL, 100);
    if (i == 2) add(&b, "web", "main", NULL, 50);
    end(&a, one, 1);
    end(&b, i == 0 ? other : i == 1 ? several : same, i == 1 ? 2 : 1);
    compare();
    assert_weights("main", "web", 100, i == 2 ? 50 : 0);
    assert_weights("main", "redis", 0, 100);
    teardown(NULL), setup(NULL);
  }
  end(&a, NULL, 0), end(&b, NULL, 0);
}

/* An address of one file is meaningless in the other, and its unknown name may hide a change. */
static void what_has_no_name_in_a_pair_is_compared_with_nothing(void **state) {
  (void)state;
  add(&a, "app-1.4", "app-1.4+0x10", NULL, 5000), add(&a, "app-1.4", "main", NULL, 5000);
  add(&b, "app-1.5", "parse", NULL, 5000), add(&b, "app-1.5", "main", NULL, 5000);
  end(&a, NULL, 0), end(&b, NULL, 0);
  compare();
  const struct view_diff_row *row = find("app-1.4+0x10", "app-1.4 -> app-1.5");
  assert_int_equal(row->self.doubt, VIEW_APART);
  assert_int_equal(find("parse", "app-1.4 -> app-1.5")->self.verdict, VIEW_UNCLEAR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_version_in_a_file_name_splits_no_function, setup, teardown),
      cmocka_unit_test_setup_teardown(look_alikes_stay_apart, setup, teardown),
      cmocka_unit_test_setup_teardown(an_update_that_is_under_way_is_one_program, setup, teardown),
      cmocka_unit_test_setup_teardown(functions_of_two_source_files_stay_two_in_a_pair, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(what_one_service_runs_is_one_program, setup, teardown),
      cmocka_unit_test_setup_teardown(programs_of_which_nobody_says_that_they_are_one_are_two,
                                      setup, teardown),
      cmocka_unit_test_setup_teardown(what_has_no_name_in_a_pair_is_compared_with_nothing, setup,
                                      teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
