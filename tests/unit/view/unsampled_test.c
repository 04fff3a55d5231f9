/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of unsampled time on the function table. */
#include "common/arena.h"
#include "view/interval.h"
#include "view/pseudo_hints.h"
#include "view/tree_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
  struct arena arena;
  struct tree_builder builder;
  struct view_tree tree;
  struct view_top_row *rows;
  uint32_t count;
};

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  arena_init(&world->arena, 1 << 20);
  assert_int_equal(tree_builder_init(&world->builder, &world->arena), 0);
  tree_builder_turn(&world->builder, "b1", 0, 10000);
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  tree_builder_fini(&world->builder);
  arena_fini(&world->arena);
  free(world);
  return 0;
}

/* STACK: names, outermost first, with blanks between. */
static void add(struct world *world, const char *stack, uint64_t count, uint64_t weight) {
  char copy[64], *rest = copy;
  uint32_t node = 0, function;
  snprintf(copy, sizeof copy, "%s", stack);
  for (char *name = strtok_r(copy, ";", &rest); name != NULL; name = strtok_r(NULL, ";", &rest)) {
    const struct view_function wanted = {
        .name = name, .module = name[0] == '[' ? name : "tool", .end = stack_end_of(name)};
    assert_int_equal(function_table_intern(&world->builder.functions, &wanted, false, &function),
                     0);
    assert_int_equal(tree_builder_child(&world->builder, node, function, &node), 0);
  }
  tree_builder_add(&world->builder, node, count, weight);
}

static void ask(struct world *world) {
  assert_int_equal(tree_builder_finish(&world->builder, &world->arena, &world->tree), 0);
  assert_int_equal(view_top(&world->tree, &world->arena, &world->rows, &world->count), 0);
}

static const struct view_top_row *row_of(const struct world *world, const char *name) {
  for (uint32_t i = 0; i < world->count; i++)
    if (strcmp(world->tree.functions[world->rows[i].function].name, name) == 0)
      return &world->rows[i];
  fail_msg("no row %s", name);
  return NULL;
}

static void assert_share(const struct view_share *share, double low, double high) {
  if (fabs(share->low - low) > 1e-9 || fabs(share->high - high) > 1e-9)
    fail_msg("%g .. %g is not %g .. %g", share->low, share->high, low, high);
}

/* Of 1000: 600 in 60 samples, 100 of the kernel's and 300 unsampled. */
static void add_all(struct world *world) {
  add(world, "main;work", 40, 400);
  add(world, "main", 10, 100);
  add(world, "[no table];leaf", 8, 80);
  add(world, "[truncated];work;deep", 2, 20);
  add(world, "[kernel]", 0, 100);
  add(world, "[unsampled]", 0, 300);
}

static void unsampled_time_raises_every_self_share(void **state) {
  struct world *world = *state;
  add_all(world);
  ask(world);
  double trials = 60 * 700. / 600;
  struct view_share work = interval_wilson(.4 / .7, trials);
  assert_share(&row_of(world, "work")->self, .7 * work.low, .7 * work.high + .3);
  struct view_share leaf = interval_wilson(.08 / .7, trials);
  assert_share(&row_of(world, "leaf")->self, .7 * leaf.low, .7 * leaf.high + .3);
  assert_true(row_of(world, "leaf")->self.low > 0.03); /* the sampled share stays */
}

/* `work` was called in 420; the callers of `leaf` and of the kernel are unknown. */
static void what_has_no_caller_raises_totals_of_those_that_may_be_it(void **state) {
  struct world *world = *state;
  add_all(world);
  ask(world);
  double trials = 60 * 700. / 600;
  struct view_share work = interval_wilson(.42 / .7, trials);
  assert_share(&row_of(world, "work")->total, .7 * work.low, .7 * work.high + .3 + .1 + .08);
  struct view_share leaf = interval_wilson(.08 / .7, trials);
  assert_share(&row_of(world, "leaf")->total, .7 * leaf.low, .7 * leaf.high + .3 + .1 + .02);
}

static void what_clocks_told_is_as_it_is(void **state) {
  struct world *world = *state;
  add_all(world);
  ask(world);
  assert_share(&row_of(world, "[unsampled]")->self, .3, .3);
  struct view_share kernel = interval_wilson(.1 / .7, 60 * 700. / 600);
  assert_share(&row_of(world, "[kernel]")->self, .7 * kernel.low, .7 * kernel.high);
  assert_int_equal(row_of(world, "[unsampled]")->lack, RATIO_ENOUGH);
}

/* Sampled kernel code lies where it was sampled. */
static void a_kernel_with_samples_hides_nothing(void **state) {
  struct world *world = *state;
  add(world, "main;work", 40, 400);
  add(world, "main;[kernel]", 60, 600);
  ask(world);
  struct view_share work = interval_wilson(.4, 100);
  assert_share(&row_of(world, "work")->total, work.low, work.high);
}

/* [kernel] has 20 samples and as much again by a clock. */
static void a_clock_beside_samples_hides_what_the_clock_counted(void **state) {
  struct world *world = *state;
  add(world, "main;work", 40, 400);
  add(world, "[kernel]", 20, 200);
  add(world, "[kernel]", 0, 200);
  add(world, "[unsampled]", 0, 200);
  ask(world);
  assert_int_equal(pseudo_kernel_weight(&world->tree), 200);
  struct view_share work = interval_wilson(.4 / .8, 60 * 800. / 600);
  assert_share(&row_of(world, "work")->total, .8 * work.low, .8 * work.high + .2 + .2);
}

static void samples_without_a_place_may_be_any_functions(void **state) {
  struct world *world = *state;
  add(world, "main;work", 40, 400);
  add(world, "main", 20, 200);
  add(world, "[unknown]", 30, 300);
  add(world, "[others]", 10, 100);
  ask(world);
  struct view_share work = interval_wilson(.4, 100), unknown = interval_wilson(.3, 100);
  assert_share(&row_of(world, "work")->self, work.low, work.high + .4);
  assert_share(&row_of(world, "[unknown]")->self, unknown.low, unknown.high);
}

/* The mark for too few samples depends on the samples, not on unsampled time. */
static void unsampled_time_makes_no_samples_too_few(void **state) {
  struct world *world = *state;
  add(world, "work", 400, 400);
  add(world, "rest", 100, 100);
  add(world, "[unsampled]", 0, 500);
  ask(world);
  const struct view_top_row *row = row_of(world, "rest");
  assert_true(row->self.high - row->self.low > row->self.share);
  assert_int_equal(row->lack, RATIO_ENOUGH);
}

/* Ten stretches of ten seconds alternate between two functions. For this board that is exact, and
   only the nine borders are uncertain. 9 / 2 x 1000 / 999 / 1000^2 is the variance of 55 500
   samples. */
static void one_boards_phases_count_at_their_ends_only(void **state) {
  struct world *world = *state;
  for (unsigned i = 0; i < 10; i++) {
    tree_builder_turn(&world->builder, "b1", i * 10000, (i + 1) * 10000);
    add(world, i % 2 == 0 ? "work" : "rest", 100, 1000);
  }
  ask(world);
  struct view_basis basis = view_basis(&world->tree);
  assert_string_equal(basis.unit, "samples");
  assert_string_equal(ratio_scope(&basis), "these");
  struct view_share work = interval_wilson(.5, .25 / (4.5 * 1000 / 999 / 1e6));
  assert_share(&row_of(world, "work")->self, work.low, work.high);
  assert_int_equal(world->tree.groups.count, 10); /* differences go by them */
}

/* 100 kernel samples in each of five stretches, and in the first as much time again by a clock,
   which has no sampling error: the stretches are no strata of that row. */
static void kernel_time_of_clocks_and_samples_has_the_binomials_interval(void **state) {
  struct world *world = *state;
  for (unsigned i = 0; i < 10; i++) {
    tree_builder_turn(&world->builder, "b1", i * 10000, (i + 1) * 10000);
    add(world, i < 5 ? "[kernel]" : "work", 100, 1000);
    if (i == 0) add(world, "[kernel]", 0, 1000);
  }
  ask(world);
  struct view_share kernel = interval_wilson(6. / 11, 1100);
  assert_share(&row_of(world, "[kernel]")->self, kernel.low, kernel.high);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(unsampled_time_raises_every_self_share),
      TEST(what_has_no_caller_raises_totals_of_those_that_may_be_it),
      TEST(what_clocks_told_is_as_it_is),
      TEST(a_kernel_with_samples_hides_nothing),
      TEST(a_clock_beside_samples_hides_what_the_clock_counted),
      TEST(samples_without_a_place_may_be_any_functions),
      TEST(unsampled_time_makes_no_samples_too_few),
      TEST(one_boards_phases_count_at_their_ends_only),
      TEST(kernel_time_of_clocks_and_samples_has_the_binomials_interval),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
