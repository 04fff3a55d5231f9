/* SPDX-License-Identifier: Apache-2.0 */
/* One program with two names is one program; two builds are separate where addresses matter. */
#include "profile_fixture.h"

#include "report/module_labels.h"
#include "report/named_tree.h"

#include <string.h>

static struct profile a, b;

static int setup(void **state) {
  (void)state;
  return profile_init(&a) != 0 || profile_init(&b) != 0;
}

static int teardown(void **state) {
  (void)state;
  profile_fini(&a);
  profile_fini(&b);
  return 0;
}

/* Adds a module of build ID with one sample; returns its number. */
static uint32_t add(struct profile *profile, const char *path, const char *id) {
  const struct batch_module module = {.id = span_of_string(id), .path = path, .kind = MODULE_ELF};
  assert_int_equal(profile_add_leaf(profile, &module, 0x10, 1, 1000), 0);
  return profile->module_count - 1;
}

/* The same, and it is the program. */
static uint32_t add_main(struct profile *profile, const char *path, const char *id) {
  return profile->main_module = add(profile, path, id);
}

static const char *shown(const struct profile *profile, uint32_t module) {
  return profile->modules[module].shown != NULL ? profile->modules[module].shown : "-";
}

static const char *build(const struct profile *profile, uint32_t module) {
  return profile->modules[module].build != NULL ? profile->modules[module].build : "-";
}

static void one_build_needs_no_label(void **state) {
  (void)state;
  uint32_t x = add_main(&a, "/bin/app", "one"), y = add_main(&b, "/usr/bin/app", "one");
  add(&a, "/lib/libc.so.6", "c"), add(&b, "/lib/libc.so.6", "c");
  assert_int_equal(module_labels_set(&a, &b), 0);
  assert_string_equal(shown(&a, x), "-");
  assert_string_equal(build(&a, x), "-");
  assert_string_equal(build(&b, y), "-");
}

static void two_builds_are_told_apart_wherever_they_are(void **state) {
  (void)state;
  uint32_t x = add_main(&a, "/bin/app", "one12"), y = add(&a, "/old/app", "two"),
           z = add_main(&b, "/bin/app", "one12"), c = add(&b, "/lib/libc.so.6", "c");
  assert_int_equal(module_labels_set(&a, &b), 0);
  assert_string_equal(build(&a, x), "6f6e6531");
  assert_string_equal(build(&a, y), "74776f");
  assert_string_equal(build(&b, z), "6f6e6531");
  assert_string_equal(build(&b, c), "-");
}

static void a_sum_has_builds_as_well(void **state) {
  (void)state;
  uint32_t x = add_main(&a, "/bin/app", "one"), y = add(&a, "/old/app", "two");
  assert_int_equal(module_labels_set(&a, NULL), 0);
  assert_string_equal(build(&a, x), "6f6e65");
  assert_string_equal(build(&a, y), "74776f");
}

/* Facts about the module at one path then hold for all its paths. */
static void one_file_at_several_paths_is_a_ring(void **state) {
  (void)state;
  uint32_t x = add_main(&a, "/bin/app", "one"), y = add(&a, "/srv/app.copy", "one"),
           z = add_main(&b, "/old/app", "one"), c = add(&b, "/lib/libc.so.6", "c"),
           none = add(&a, "/bin/none", ""), other = add(&b, "/bin/none", "");
  assert_int_equal(module_labels_set(&a, &b), 0);
  const struct profile_module *ring[] = {&a.modules[x], &a.modules[y], &b.modules[z]};
  for (unsigned i = 0; i < 3; i++) {
    const struct profile_module *at = ring[i];
    for (unsigned step = 0; step < 3; step++) {
      at = at->twin;
      assert_non_null(at);
      assert_true((at == ring[i]) == (step == 2));
    }
  }
  assert_null(b.modules[c].twin);
  assert_null(a.modules[none].twin);
  assert_null(b.modules[other].twin);
}

static void the_program_may_have_another_file_name(void **state) {
  (void)state;
  uint32_t x = add_main(&a, "/tmp/app.old", "one"), y = add_main(&b, "/tmp/app.new", "two");
  assert_int_equal(module_labels_set(&a, &b), 0);
  assert_string_equal(shown(&a, x), "app.old -> app.new");
  assert_string_equal(shown(&b, y), "app.old -> app.new");
  assert_string_equal(build(&a, x), "6f6e65"); /* its addresses are others */
}

static void a_copy_is_the_same_program(void **state) {
  (void)state;
  uint32_t x = add_main(&a, "/tmp/app", "one"), y = add_main(&b, "/tmp/copy", "one");
  assert_int_equal(module_labels_set(&a, &b), 0);
  assert_string_equal(shown(&a, x), "app");
  assert_string_equal(shown(&b, y), "app");
  assert_string_equal(build(&a, x), "-");
}

/* Each executes the other: which is which is unknown. */
static void two_programs_that_know_each_other_are_two(void **state) {
  (void)state;
  uint32_t x = add_main(&a, "/bin/sh", "one"), y = add_main(&b, "/bin/app", "two");
  uint32_t z = add(&b, "/bin/sh", "one");
  assert_int_equal(module_labels_set(&a, &b), 0);
  assert_string_equal(shown(&a, x), "-");
  assert_string_equal(shown(&b, y), "-");
  assert_string_equal(shown(&b, z), "-");
}

static void other_modules_with_other_names_are_others(void **state) {
  (void)state;
  add_main(&a, "/bin/app", "one"), add_main(&b, "/bin/app", "two");
  uint32_t x = add(&a, "/lib/libx.so.1", "x"), y = add(&b, "/lib/libx.so.2", "y");
  assert_int_equal(module_labels_set(&a, &b), 0);
  assert_string_equal(shown(&a, x), "-");
  assert_string_equal(shown(&b, y), "-");
  assert_string_equal(build(&b, y), "-");
}

static void a_function_without_a_name_tells_its_build(void **state) {
  struct arena arena;
  struct view_tree tree;
  (void)state;
  add_main(&a, "/tmp/app.old", "one"), add_main(&b, "/tmp/app.new", "two");
  assert_int_equal(module_labels_set(&a, &b), 0);
  arena_init(&arena, 1 << 20);
  assert_int_equal(named_tree_build(&b, NULL, NULL, &arena, &tree), 0);
  assert_int_equal(tree.function_count, 2); /* the root, and it */
  assert_string_equal(tree.functions[1].name, "app.new+0x10 [74776f]");
  assert_string_equal(tree.functions[1].module, "app.old -> app.new");
  assert_true(tree.functions[1].is_apart);
  arena_fini(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(one_build_needs_no_label),
      TEST(two_builds_are_told_apart_wherever_they_are),
      TEST(a_sum_has_builds_as_well),
      TEST(one_file_at_several_paths_is_a_ring),
      TEST(the_program_may_have_another_file_name),
      TEST(a_copy_is_the_same_program),
      TEST(two_programs_that_know_each_other_are_two),
      TEST(other_modules_with_other_names_are_others),
      TEST(a_function_without_a_name_tells_its_build),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
