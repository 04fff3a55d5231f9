/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts: what changed is found, what did not is not, what cannot be told is left open. */
#include "common/arena.h"
#include "view/diff.h"
#include "view/tree_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct side {
  struct tree_builder builder;
  struct view_tree tree;
};

static struct arena arena;
static struct side a, b;

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

static uint32_t node_of(struct side *side, const char *module, const char *name, const char *file) {
  const struct view_function wanted = {.name = name, .module = module, .file = file};
  uint32_t function, node;
  assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
  assert_int_equal(tree_builder_child(&side->builder, 0, function, &node), 0);
  return node;
}

static void add_of(struct side *side, const char *module, const char *name, const char *file,
                   uint64_t count) {
  tree_builder_add(&side->builder, node_of(side, module, name, file), count, 10 * count);
}

/* One sample that weighs a thousand of the others. */
static void add_heavy(struct side *side, const char *name) {
  tree_builder_add(&side->builder, node_of(side, "tool", name, NULL), 1, 10000);
}

/* A function without a name of one build of several. */
static void add_apart(struct side *side, const char *name, uint64_t count) {
  const struct view_function wanted = {.name = name, .module = "tool", .is_apart = true};
  uint32_t function, node;
  assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
  assert_int_equal(tree_builder_child(&side->builder, 0, function, &node), 0);
  tree_builder_add(&side->builder, node, count, 10 * count);
}

static void add(struct side *side, const char *name, const char *file, uint64_t count) {
  add_of(side, "tool", name, file, count);
}

static void end(struct side *side) {
  assert_int_equal(tree_builder_finish(&side->builder, &arena, &side->tree), 0);
  tree_builder_fini(&side->builder);
}

static const struct view_diff_row *find(const struct view_diff_row *rows, uint32_t count,
                                        const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  fail_msg("no %s", name);
  return NULL;
}

static void what_changed_is_told_from_what_did_not(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&a, "hot", NULL, 6000), add(&a, "same", NULL, 3950), add(&a, "rare", NULL, 50);
  add(&b, "hot", NULL, 4000), add(&b, "same", NULL, 3960), add(&b, "rare", NULL, 40);
  add(&b, "new", "x.c", 2000);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_int_equal(count, 4);
  assert_int_equal(find(rows, count, "hot")->verdict, VIEW_CHANGED);
  assert_int_equal(find(rows, count, "new")->verdict, VIEW_CHANGED);
  assert_int_equal(find(rows, count, "rare")->verdict, VIEW_SAME);
  assert_int_equal(find(rows, count, "same")->verdict, VIEW_UNCLEAR); /* +- 1.4 points */
  assert_true(fabs(find(rows, count, "hot")->difference + 0.2) < 1e-12);
  assert_true(fabs(find(rows, count, "new")->b - 0.2) < 1e-12);
  for (uint32_t i = 0; i < count; i++)
    assert_true(rows[i].low <= rows[i].difference && rows[i].difference <= rows[i].high);
  for (uint32_t i = 1; i < count; i++)
    assert_true(fabs(rows[i - 1].difference) >= fabs(rows[i].difference));
}

/* One function that has moved, and two of one name. */
static void a_file_tells_apart_only_what_one_side_has_several_of(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&a, "moved", "old.c", 1000), add(&a, "own", "y.c", 700);
  add(&b, "moved", "new.c", 900), add(&b, "own", "x.c", 300), add(&b, "own", "y.c", 400);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_int_equal(count, 3);
  const struct view_diff_row *moved = find(rows, count, "moved");
  assert_null(moved->file);
  assert_int_equal(moved->a_weight, 10000);
  assert_int_equal(moved->b_weight, 9000);
  for (uint32_t i = 0; i < count; i++) {
    if (&rows[i] == moved) continue;
    bool is_y = strcmp(rows[i].file, "y.c") == 0;
    assert_int_equal(rows[i].a_weight, is_y ? 7000 : 0);
    assert_int_equal(rows[i].b_weight, is_y ? 4000 : 3000);
  }
}

/* Two boards a side that are nearly alike by accident, some 20 samples each: 50 and 60 % may be
   chance. */
static void boards_that_are_alike_by_accident_prove_nothing(void **state) {
  static const char *const boards[2][2] = {{"a1", "a2"}, {"b1", "b2"}};
  struct side *const sides[2] = {&a, &b};
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned board = 0; board < 2; board++) {
      tree_builder_turn(&sides[side]->builder, boards[side][board], 0, 10000);
      add(sides[side], "hot", NULL, (side == 0 ? 10 : 12) + board);
      add(sides[side], "rest", NULL, side == 0 ? 10 : 8);
    }
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_true(find(rows, count, "hot")->p_alone > 0.1);
  assert_int_not_equal(find(rows, count, "hot")->verdict, VIEW_CHANGED);
}

static void what_clocks_told_is_never_called_changed(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&a, "main", NULL, 9000), add(&b, "main", NULL, 9600);
  add_of(&a, "[kernel]", "[kernel]", NULL, 900), add_of(&b, "[kernel]", "[kernel]", NULL, 300);
  add_of(&a, "[unsampled]", "[unsampled]", NULL, 100);
  add_of(&b, "[unsampled]", "[unsampled]", NULL, 100);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_int_equal(find(rows, count, "main")->verdict, VIEW_CHANGED);
  assert_int_equal(find(rows, count, "[kernel]")->verdict, VIEW_UNCLEAR);
  assert_int_equal(find(rows, count, "[kernel]")->doubt, VIEW_CLOCKS);
  assert_int_equal(find(rows, count, "[unsampled]")->verdict, VIEW_SAME);
}

/* Half of one side has no names: what the other side calls `hot` may be in it. */
static void what_may_be_hidden_among_the_nameless_is_no_change(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&a, "big", NULL, 4000), add_apart(&a, "tool+0x10 [01]", 5000);
  add_of(&a, "libc", "read", NULL, 1000);
  add(&b, "big", NULL, 9500), add(&b, "hot", NULL, 4000), add_of(&b, "libc", "read", NULL, 1500);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  const struct view_diff_row *apart = find(rows, count, "tool+0x10 [01]");
  assert_int_equal(apart->verdict, VIEW_UNCLEAR);
  assert_int_equal(apart->doubt, VIEW_APART);
  assert_true(apart->high > 0); /* it may be `big` */
  assert_int_equal(find(rows, count, "hot")->verdict, VIEW_UNCLEAR);
  assert_true(find(rows, count, "hot")->low < 0);
  assert_int_equal(find(rows, count, "big")->verdict, VIEW_UNCLEAR); /* 40 and 63 %: may be 90 */
  assert_int_equal(view_diff_tested(rows, count), 3);
  /* Of another module. */
  assert_true(find(rows, count, "read")->high - find(rows, count, "read")->low < 0.05);
}

/* A few that have no name hide little. */
static void a_large_change_outweighs_a_few_nameless(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&a, "hot", NULL, 3000), add(&a, "cold", NULL, 6800), add_apart(&a, "tool+0x10 [01]", 200);
  add(&b, "hot", NULL, 6000), add(&b, "cold", NULL, 4000);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  const struct view_diff_row *hot = find(rows, count, "hot");
  assert_int_equal(hot->verdict, VIEW_CHANGED);
  assert_true(hot->low < 0.27 && hot->low > 0.25 && hot->high < 0.32);
  assert_int_equal(find(rows, count, "cold")->verdict, VIEW_CHANGED);
}

/* A p of .01 alone would do; the smallest of 21 must be below .0024. */
static void a_row_that_chance_makes_among_many_says_so(void **state) {
  struct view_diff_row *rows;
  uint32_t count, doubted = 0;
  char name[16];
  (void)state;
  add(&a, "one", NULL, 1000), add(&b, "one", NULL, 1110);
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "f%d", i);
    add(&a, name, NULL, 450), add(&b, name, NULL, i % 2 ? 450 : 439);
  }
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  const struct view_diff_row *one = find(rows, count, "one");
  assert_true(one->low > 0 && one->p_alone < 0.05);
  assert_int_equal(one->verdict, VIEW_UNCLEAR);
  assert_int_equal(one->doubt, VIEW_MANY);
  for (uint32_t i = 0; i < count; i++) doubted += rows[i].doubt != VIEW_NO_DOUBT;
  assert_int_equal(doubted, 1);
}

static void add_named_by(struct side *side, const char *quality, const char *name, uint64_t count) {
  const struct view_function wanted = {.name = name, .module = "tool", .quality = quality};
  uint32_t function, node;
  assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
  assert_int_equal(tree_builder_child(&side->builder, 0, function, &node), 0);
  tree_builder_add(&side->builder, node, count, 10 * count);
}

/* What one side calls `parse` is `parse` and the inlined `step` on the other. */
static void names_of_unlike_sources_prove_no_change(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add_named_by(&a, "symtab", "parse", 8000), add_of(&a, "libc", "read", NULL, 2000);
  add_named_by(&b, "dwarf", "parse", 2500), add_named_by(&b, "dwarf", "step", 5000);
  add_of(&b, "libc", "read", NULL, 2500);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  for (int i = 0; i < 2; i++) {
    const struct view_diff_row *row = find(rows, count, i == 0 ? "parse" : "step");
    assert_int_equal(row->verdict, VIEW_UNCLEAR);
    assert_int_equal(row->doubt, VIEW_UNLIKE);
    assert_true(row->low < 0 && row->high > 0);
  }
  assert_int_equal(find(rows, count, "read")->verdict, VIEW_CHANGED); /* of another module */
}

/* What no debug information has, as code in assembler, has twice the share. */
static void what_both_sides_name_alike_is_no_doubt(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add_named_by(&a, "dwarf", "parse", 9000), add_named_by(&a, "symtab", "memcpy", 1000);
  add_named_by(&b, "dwarf", "parse", 8000), add_named_by(&b, "symtab", "memcpy", 2000);
  add_named_by(&a, "dwarf", "old", 10), add_named_by(&b, "symtab", "new", 10); /* one in 1000 */
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_int_equal(find(rows, count, "memcpy")->verdict, VIEW_CHANGED);
  assert_int_equal(find(rows, count, "parse")->verdict, VIEW_CHANGED);
}

/* Both sides of debug information, but for as much as a hundredth of one. */
static void like_sources_still_prove_a_change(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add_named_by(&a, "dwarf", "parse", 8000), add_named_by(&a, "symtab", "memcpy", 100);
  add_named_by(&a, "dwarf", "step", 2000);
  add_named_by(&b, "dwarf", "parse", 5000), add_named_by(&b, "dwarf", "step", 5000);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_int_equal(find(rows, count, "parse")->verdict, VIEW_CHANGED);
  assert_int_equal(find(rows, count, "step")->verdict, VIEW_CHANGED);
}

static void few_samples_prove_nothing(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&a, "x", NULL, 6), add(&a, "y", NULL, 4);
  add(&b, "x", NULL, 4), add(&b, "y", NULL, 6);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(rows[i].verdict, VIEW_UNCLEAR);
}

/* By their count 4040 samples, and a difference of 18 points sure; but forty of them decide. */
static void a_few_heavy_samples_prove_nothing(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&a, "x", NULL, 1200), add(&a, "y", NULL, 2800);
  add(&b, "x", NULL, 1200), add(&b, "y", NULL, 2800);
  for (int i = 0; i < 40; i++) add_heavy(&a, i < 12 ? "x" : "y"), add_heavy(&b, i < 20 ? "x" : "y");
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_true(find(rows, count, "x")->difference > 0.18);
  assert_true(find(rows, count, "x")->low < 0);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(rows[i].verdict, VIEW_UNCLEAR);
}

static void an_empty_side_is_no_crash(void **state) {
  struct view_diff_row *rows;
  uint32_t count;
  (void)state;
  add(&b, "x", NULL, 1000);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
  assert_int_equal(count, 1);
  assert_int_equal(rows[0].verdict, VIEW_UNCLEAR);
  assert_int_equal(view_diff(&a.tree, &a.tree, &arena, &rows, &count), 0);
  assert_int_equal(count, 0);
}

static void add_by_chance(struct side *side) {
  uint64_t counts[200] = {0};
  for (int i = 0; i < 5000; i++) counts[rand() % 200]++;
  for (int i = 0; i < 200; i++) {
    char name[16];
    snprintf(name, sizeof name, "f%d", i);
    add(side, name, NULL, counts[i]);
  }
  end(side);
}

/* Twice the same program: of a thousand functions none is called changed, more than one time in
   twenty at least. */
static void chance_is_not_called_change(void **state) {
  unsigned wrong = 0;
  srand(1);
  for (int round = 0; round < 40; round++) {
    struct view_diff_row *rows;
    uint32_t count;
    add_by_chance(&a), add_by_chance(&b);
    assert_int_equal(view_diff(&a.tree, &b.tree, &arena, &rows, &count), 0);
    bool has_change = false;
    for (uint32_t i = 0; i < count; i++) has_change |= rows[i].verdict == VIEW_CHANGED;
    wrong += has_change;
    teardown(state);
    assert_int_equal(setup(state), 0);
  }
  assert_true(wrong <= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_changed_is_told_from_what_did_not, setup, teardown),
      cmocka_unit_test_setup_teardown(a_file_tells_apart_only_what_one_side_has_several_of, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(boards_that_are_alike_by_accident_prove_nothing, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(what_clocks_told_is_never_called_changed, setup, teardown),
      cmocka_unit_test_setup_teardown(what_may_be_hidden_among_the_nameless_is_no_change, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(a_large_change_outweighs_a_few_nameless, setup, teardown),
      cmocka_unit_test_setup_teardown(a_row_that_chance_makes_among_many_says_so, setup, teardown),
      cmocka_unit_test_setup_teardown(names_of_unlike_sources_prove_no_change, setup, teardown),
      cmocka_unit_test_setup_teardown(what_both_sides_name_alike_is_no_doubt, setup, teardown),
      cmocka_unit_test_setup_teardown(like_sources_still_prove_a_change, setup, teardown),
      cmocka_unit_test_setup_teardown(few_samples_prove_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(a_few_heavy_samples_prove_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(an_empty_side_is_no_crash, setup, teardown),
      cmocka_unit_test_setup_teardown(chance_is_not_called_change, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
