/* SPDX-License-Identifier: Apache-2.0 */
/* Time that moved between functions is distinguished from growth. */
#include "common/arena.h"
#include "view/diff.h"
#include "view/tree_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct side {
  struct tree_builder builder;
  struct view_tree tree;
};

enum { STRETCHES = 24, STRETCH_MS = 1000, WEIGHT_NS = 1000000 };

static struct arena arena;
static struct side a, b;
static struct view_diff diff;

static int set_up(void **state) {
  (void)state;
  a = b = (struct side){.tree = {.total_weight = 0}};
  arena_init(&arena, 16 << 20);
  return tree_builder_init(&a.builder, &arena) != 0 || tree_builder_init(&b.builder, &arena) != 0;
}

static int tear_down(void **state) {
  (void)state;
  arena_fini(&arena);
  return 0;
}

/* Adds COUNT samples of STACK, names with ';' between, the outermost first. */
static void add(struct side *side, const char *stack, uint64_t count) {
  uint32_t node = 0;
  while (*stack != '\0') {
    static char name[32];
    size_t len = strcspn(stack, ";");
    memcpy(name, stack, len);
    name[len] = '\0';
    const struct view_function wanted = {.name = name, .module = "shop"};
    uint32_t function;
    assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
    assert_int_equal(tree_builder_child(&side->builder, node, function, &node), 0);
    stack += len + (stack[len] == ';');
  }
  for (uint64_t i = 0; i < STRETCHES; i++) {
    uint64_t part = count * (i + 1) / STRETCHES - count * i / STRETCHES;
    tree_builder_turn(&side->builder, "", i * STRETCH_MS, (i + 1) * STRETCH_MS);
    if (part > 0) tree_builder_add(&side->builder, node, part, WEIGHT_NS * part);
  }
}

/* Compares the sides by MEASURE, of totals. */
static void compare(enum view_measure measure, enum view_of of) {
  const struct view_diff_options options = {
      .measure = measure, .of = of, .units = {"run", 1, 1}, .a_runs = 1, .b_runs = 1};
  struct side *sides[] = {&a, &b};
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(tree_builder_finish(&sides[i]->builder, &arena, &sides[i]->tree), 0);
    tree_builder_fini(&sides[i]->builder);
  }
  assert_int_equal(view_diff(&a.tree, &b.tree, &options, &arena, &diff), 0);
}

static const struct view_diff_row *find(const char *name) {
  for (uint32_t i = 0; i < diff.count; i++)
    if (strcmp(diff.rows[i].name, name) == 0) return &diff.rows[i];
  fail_msg("no %s", name);
  return NULL;
}

static void assert_moved(const char *name, enum view_move how, const char *of, double amount) {
  const struct view_diff_row *row = find(name);
  if (fabs(row->moved.amount - amount) > 0.011)
    fail_msg("%s: %g has moved", name, row->moved.amount);
  assert_int_equal(row->moved.how, how);
  if (of == NULL)
    assert_null(row->moved.of.name);
  else
    assert_string_equal(row->moved.of.name, of);
}

static void add_shop(struct side *side) {
  add(side, "main;order;parse", 3000);
  add(side, "main;order;tally", 3000);
}

static void a_function_with_another_name_stands_in_its_place(void **state) {
  (void)state;
  add_shop(&a), add(&a, "main;order;price", 1500), add(&a, "main;order;price;round", 2500);
  add_shop(&b), add(&b, "main;order;cost", 1500), add(&b, "main;order;cost;round", 2500);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_int_equal(find("cost")->cpu.verdict, VIEW_NEW);
  assert_moved("cost", VIEW_RENAMED, "price", 0.4);
  assert_string_equal(find("cost")->moved.of.module, "shop");
  assert_moved("price", VIEW_RENAMED, "cost", 0.4);
}

/* The rest has few samples, and seems to have become faster. */
static void a_rename_beside_little_else_is_no_growth(void **state) {
  (void)state;
  add(&a, "main;order;price", 1780), add(&a, "main;order;crc", 220);
  add(&b, "main;order;cost", 1800), add(&b, "main;order;crc", 190);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_int_equal(find("cost")->cpu.verdict, VIEW_NEW);
  assert_moved("cost", VIEW_RENAMED, "price", 0.89);
}

static void a_split_beside_little_else_is_no_growth(void **state) {
  (void)state;
  add(&a, "main;order;price", 1780), add(&a, "main;order;crc", 220);
  add(&b, "main;order;price;rounded", 1780), add(&b, "main;order;crc", 190);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_int_equal(find("rounded")->cpu.verdict, VIEW_NEW);
  assert_moved("rounded", VIEW_SPLIT, "price", 0.89);
}

/* Most of the rest became twice as fast: that is not the pace of the removed function. */
static void a_rename_beside_a_speed_up_is_no_growth(void **state) {
  (void)state;
  add(&a, "main;order;price", 6000), add(&a, "main;order;pack", 3000);
  add(&a, "main;order;crc", 1000);
  add(&b, "main;order;cost", 6000), add(&b, "main;order;pack", 1500);
  add(&b, "main;order;crc", 1000);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_int_equal(find("cost")->cpu.verdict, VIEW_NEW);
  assert_moved("cost", VIEW_RENAMED, "price", 0.6);
}

/* Runs may differ by 10 % of CPU time, which is not a sampling error. */
static void the_sampling_error_has_no_allowance_for_runs(void **state) {
  (void)state;
  add_shop(&a), add(&a, "main;order;price", 4000);
  add_shop(&b), add(&b, "main;order;cost", 4000);
  compare(VIEW_CPU, VIEW_TOTAL);
  const struct view_diff_row *cost = find("cost");
  double half = (cost->cpu.high - cost->cpu.low) / 2;
  assert_true(cost->moved.error > 0.008 && cost->moved.error < half - 0.03);
}

/* It takes a third more than the removed function: that is another function. */
static void one_that_takes_more_is_no_new_name(void **state) {
  (void)state;
  add_shop(&a), add(&a, "main;order;price", 3000);
  add_shop(&b), add(&b, "main;order;cost", 4500);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_true(find("cost")->moved.amount <= 0);
}

static void half_of_a_function_moves_into_a_new_one(void **state) {
  (void)state;
  add_shop(&a), add(&a, "main;order;price", 4000);
  add_shop(&b), add(&b, "main;order;price", 1000), add(&b, "main;order;price;half", 3000);
  compare(VIEW_SHARES, VIEW_TOTAL);
  assert_moved("half", VIEW_SPLIT, "price", 0.3);
}

static void a_function_is_inlined_into_its_caller(void **state) {
  (void)state;
  add_shop(&a), add(&a, "main;order", 500), add(&a, "main;order;price", 3500);
  add_shop(&b), add(&b, "main;order", 4000);
  compare(VIEW_CPU, VIEW_SELF);
  assert_moved("order", VIEW_INLINED, "price", 0.35);
}

static void a_function_is_called_from_elsewhere(void **state) {
  (void)state;
  add_shop(&a), add(&a, "main;first", 1000), add(&a, "main;second", 1000);
  add(&a, "main;first;hash", 2000);
  add_shop(&b), add(&b, "main;first", 1000), add(&b, "main;second", 1000);
  add(&b, "main;second;hash", 2000);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_moved("second", VIEW_CALLS, NULL, 0.2);
}

/* parse() takes twice as much, and tally(), which has nothing to do with it, as much less. */
static void a_speed_up_elsewhere_excuses_nothing(void **state) {
  (void)state;
  add(&a, "main;order;parse", 3000), add(&a, "main;order;tally", 5000), add(&a, "main;log", 2000);
  add(&b, "main;order;parse", 6000), add(&b, "main;order;tally", 2000), add(&b, "main;log", 2000);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_int_equal(find("parse")->cpu.verdict, VIEW_CHANGED);
  assert_true(find("parse")->moved.amount <= 0);
}

/* An hour of constant load: the new function takes time from all others, including its caller. */
static void a_new_function_at_constant_load_is_growth(void **state) {
  (void)state;
  add(&a, "main;order", 5000), add(&a, "main;order;parse", 2500), add(&a, "main;order;tally", 2500);
  add(&b, "main;order", 4000), add(&b, "main;order;parse", 2000), add(&b, "main;order;tally", 2000);
  add(&b, "main;order;check", 2000);
  compare(VIEW_SHARES, VIEW_TOTAL);
  assert_int_equal(find("check")->total.verdict, VIEW_NEW);
  assert_true(find("check")->moved.amount <= 0);
}

static void the_deepest_function_that_explains_a_caller_is_told(void **state) {
  (void)state;
  add_shop(&a), add(&a, "main;order;price", 3000);
  add_shop(&b), add(&b, "main;order;price", 3000), add(&b, "main;order;check;stock", 4000);
  compare(VIEW_CPU, VIEW_TOTAL);
  assert_string_equal(find("main")->through.name, "stock");
  assert_string_equal(find("main")->through.module, "shop");
  assert_string_equal(find("order")->through.name, "stock");
  assert_null(find("stock")->through.name);
  assert_true(find("stock")->moved.amount <= 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_rename_beside_little_else_is_no_growth, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_split_beside_little_else_is_no_growth, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_rename_beside_a_speed_up_is_no_growth, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_function_with_another_name_stands_in_its_place, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(the_sampling_error_has_no_allowance_for_runs, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(one_that_takes_more_is_no_new_name, set_up, tear_down),
      cmocka_unit_test_setup_teardown(half_of_a_function_moves_into_a_new_one, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_function_is_inlined_into_its_caller, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_function_is_called_from_elsewhere, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_speed_up_elsewhere_excuses_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_new_function_at_constant_load_is_growth, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_deepest_function_that_explains_a_caller_is_told, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
