/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts: a change is found, no change is not called changed, and uncertain cases stay unclear.
 */
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

enum { STRETCHES = 24, STRETCH_MS = 1000, WEIGHT_NS = 100000 /* of a sample */ };

/* COUNT samples, evenly over the time of SIDE. */
static void add_evenly(struct side *side, uint32_t node, uint64_t count) {
  for (uint64_t i = 0; i < STRETCHES; i++) {
    uint64_t part = count * (i + 1) / STRETCHES - count * i / STRETCHES;
    tree_builder_turn(&side->builder, "", i * STRETCH_MS, (i + 1) * STRETCH_MS);
    if (part > 0) tree_builder_add(&side->builder, node, part, WEIGHT_NS * part);
  }
}

static void add_of(struct side *side, const char *module, const char *name, const char *file,
                   uint64_t count) {
  add_evenly(side, node_of(side, module, name, file), count);
}

/* A sample of stretch AT with the weight of a thousand others. */
static void add_heavy(struct side *side, const char *name, unsigned at) {
  uint64_t start_ms = at % STRETCHES * STRETCH_MS;
  tree_builder_turn(&side->builder, "", start_ms, start_ms + STRETCH_MS);
  tree_builder_add(&side->builder, node_of(side, "tool", name, NULL), 1, 1000 * WEIGHT_NS);
}

/* A function without a name, of one build of several. */
static void add_apart(struct side *side, const char *name, uint64_t count) {
  const struct view_function wanted = {.name = name, .module = "tool", .is_apart = true};
  uint32_t function, node;
  assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
  assert_int_equal(tree_builder_child(&side->builder, 0, function, &node), 0);
  add_evenly(side, node, count);
}

static void add(struct side *side, const char *name, const char *file, uint64_t count) {
  add_of(side, "tool", name, file, count);
}

static void end(struct side *side) {
  assert_int_equal(tree_builder_finish(&side->builder, &arena, &side->tree), 0);
  tree_builder_fini(&side->builder);
}

static struct view_diff diff;

static void compare(const struct side *one, const struct side *other) {
  static const struct view_diff_options options = {
      .measure = VIEW_SHARES, .of = VIEW_SELF, .units = {"run", 1, 1}};
  assert_int_equal(view_diff(&one->tree, &other->tree, &options, &arena, &diff), 0);
}

static const struct view_diff_row *find(const char *name) {
  for (uint32_t i = 0; i < diff.count; i++)
    if (strcmp(diff.rows[i].name, name) == 0) return &diff.rows[i];
  fail_msg("no %s", name);
  return NULL;
}

static void what_changed_is_told_from_what_did_not(void **state) {
  (void)state;
  add(&a, "hot", NULL, 6000), add(&a, "same", NULL, 3950), add(&a, "rare", NULL, 50);
  add(&b, "hot", NULL, 4000), add(&b, "same", NULL, 3960), add(&b, "rare", NULL, 40);
  add(&b, "new", "x.c", 2000);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(diff.count, 4);
  assert_int_equal(find("hot")->self.verdict, VIEW_CHANGED);
  assert_int_equal(find("new")->self.verdict, VIEW_NEW);
  assert_int_equal(find("rare")->self.verdict, VIEW_SAME);
  assert_int_equal(find("same")->self.verdict, VIEW_UNCLEAR); /* +- 1.4 points */
  assert_true(fabs(find("hot")->self.difference + 0.2) < 1e-12);
  assert_true(fabs(find("new")->self.b - 0.2) < 1e-12);
  for (uint32_t i = 0; i < diff.count; i++)
    assert_true(diff.rows[i].self.low <= diff.rows[i].self.difference &&
                diff.rows[i].self.difference <= diff.rows[i].self.high);
  for (uint32_t i = 1; i < diff.count; i++)
    assert_true(fabs(diff.rows[i - 1].self.difference) >= fabs(diff.rows[i].self.difference));
}

/* One function that has moved, and two of one name. */
static void a_file_tells_apart_only_what_one_side_has_several_of(void **state) {
  (void)state;
  add(&a, "moved", "old.c", 1000), add(&a, "own", "y.c", 700);
  add(&b, "moved", "new.c", 900), add(&b, "own", "x.c", 300), add(&b, "own", "y.c", 400);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(diff.count, 3);
  const struct view_diff_row *moved = find("moved");
  assert_null(moved->file);
  assert_int_equal(moved->a_weight, 1000 * WEIGHT_NS);
  assert_int_equal(moved->b_weight, 900 * WEIGHT_NS);
  for (uint32_t i = 0; i < diff.count; i++) {
    if (&diff.rows[i] == moved) continue;
    bool is_y = strcmp(diff.rows[i].file, "y.c") == 0;
    assert_int_equal(diff.rows[i].a_weight, is_y ? 700 * WEIGHT_NS : 0);
    assert_int_equal(diff.rows[i].b_weight, (is_y ? 400 : 300) * WEIGHT_NS);
  }
}

/* Two boards a side that are nearly alike by accident, some 20 samples each: 50 and 60 % may be
   chance. */
static void boards_that_are_alike_by_accident_prove_nothing(void **state) {
  static const char *const boards[2][2] = {{"a1", "a2"}, {"b1", "b2"}};
  struct side *const sides[2] = {&a, &b};
  (void)state;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned board = 0; board < 2; board++) {
      tree_builder_turn(&sides[side]->builder, boards[side][board], 0, 10000);
      add(sides[side], "hot", NULL, (side == 0 ? 10 : 12) + board);
      add(sides[side], "rest", NULL, side == 0 ? 10 : 8);
    }
  end(&a), end(&b);
  compare(&a, &b);
  assert_true(find("hot")->self.p_alone > 0.1);
  assert_int_not_equal(find("hot")->self.verdict, VIEW_CHANGED);
}

static void what_clocks_told_is_never_called_changed(void **state) {
  (void)state;
  add(&a, "main", NULL, 9000), add(&b, "main", NULL, 9600);
  add_of(&a, "[kernel]", "[kernel]", NULL, 900), add_of(&b, "[kernel]", "[kernel]", NULL, 300);
  add_of(&a, "[unsampled]", "[unsampled]", NULL, 100);
  add_of(&b, "[unsampled]", "[unsampled]", NULL, 100);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(find("main")->self.verdict, VIEW_CHANGED);
  assert_int_equal(find("[kernel]")->self.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("[kernel]")->self.doubt, VIEW_CLOCKS);
  assert_int_equal(find("[unsampled]")->self.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("[unsampled]")->self.doubt, VIEW_CLOCKS);
}

/* Half of one side has no names: the other side's `hot` may be in it. */
static void what_may_be_hidden_among_the_nameless_is_no_change(void **state) {
  (void)state;
  add(&a, "big", NULL, 4000), add_apart(&a, "tool+0x10 [01]", 5000);
  add_of(&a, "libc", "read", NULL, 1000);
  add(&b, "big", NULL, 9500), add(&b, "hot", NULL, 4000), add_of(&b, "libc", "read", NULL, 1500);
  end(&a), end(&b);
  compare(&a, &b);
  const struct view_diff_row *apart = find("tool+0x10 [01]");
  assert_int_equal(apart->self.verdict, VIEW_UNCLEAR);
  assert_int_equal(apart->self.doubt, VIEW_APART);
  assert_true(apart->self.high > 0); /* it may be `big` */
  assert_int_equal(find("hot")->self.verdict, VIEW_UNCLEAR);
  assert_true(find("hot")->self.low < 0);
  assert_int_equal(find("big")->self.verdict, VIEW_UNCLEAR); /* 40 and 63 %: may be 90 */
  assert_int_equal(diff.tested, 3);
  /* Of another module. */
  assert_true(find("read")->self.high - find("read")->self.low < 0.05);
}

/* A few that have no name hide little. */
static void a_large_change_outweighs_a_few_nameless(void **state) {
  (void)state;
  add(&a, "hot", NULL, 3000), add(&a, "cold", NULL, 6800), add_apart(&a, "tool+0x10 [01]", 200);
  add(&b, "hot", NULL, 6000), add(&b, "cold", NULL, 4000);
  end(&a), end(&b);
  compare(&a, &b);
  const struct view_diff_row *hot = find("hot");
  assert_int_equal(hot->self.verdict, VIEW_CHANGED);
  assert_true(hot->self.low < 0.27 && hot->self.low > 0.25 && hot->self.high < 0.32);
  assert_int_equal(find("cold")->self.verdict, VIEW_CHANGED);
}

/* A p of .01 alone would do; the smallest of 21 must be below .0024. */
static void a_row_that_chance_makes_among_many_says_so(void **state) {
  uint32_t doubted = 0;
  char name[16];
  (void)state;
  add(&a, "one", NULL, 1000), add(&b, "one", NULL, 1110);
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "f%d", i);
    add(&a, name, NULL, 450), add(&b, name, NULL, i % 2 ? 450 : 439);
  }
  end(&a), end(&b);
  compare(&a, &b);
  const struct view_diff_row *one = find("one");
  assert_true(one->self.low > 0 && one->self.p_alone < 0.05);
  assert_int_equal(one->self.verdict, VIEW_UNCLEAR);
  assert_int_equal(one->self.doubt, VIEW_MANY);
  for (uint32_t i = 0; i < diff.count; i++) doubted += diff.rows[i].self.doubt != VIEW_NO_DOUBT;
  assert_int_equal(doubted, 1);
}

static void add_named_by(struct side *side, const char *quality, const char *name, uint64_t count) {
  const struct view_function wanted = {.name = name, .module = "tool", .quality = quality};
  uint32_t function, node;
  assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
  assert_int_equal(tree_builder_child(&side->builder, 0, function, &node), 0);
  add_evenly(side, node, count);
}

/* One side's `parse` is `parse` and the inlined `step` on the other. */
static void names_of_unlike_sources_prove_no_change(void **state) {
  (void)state;
  add_named_by(&a, "symtab", "parse", 8000), add_of(&a, "libc", "read", NULL, 2000);
  add_named_by(&b, "dwarf", "parse", 2500), add_named_by(&b, "dwarf", "step", 5000);
  add_of(&b, "libc", "read", NULL, 2500);
  end(&a), end(&b);
  compare(&a, &b);
  for (int i = 0; i < 2; i++) {
    const struct view_diff_row *row = find(i == 0 ? "parse" : "step");
    assert_int_equal(row->self.verdict, VIEW_UNCLEAR);
    assert_int_equal(row->self.doubt, VIEW_UNLIKE);
    assert_true(row->self.low < 0 && row->self.high > 0);
  }
  assert_int_equal(find("read")->self.verdict, VIEW_CHANGED); /* of another module */
}

static uint32_t below(struct side *side, uint32_t parent, const char *quality, const char *name) {
  const struct view_function wanted = {.name = name, .module = "tool", .quality = quality};
  uint32_t function, node;
  assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
  assert_int_equal(tree_builder_child(&side->builder, parent, function, &node), 0);
  return node;
}

/* The same, called by `main`, whose total includes both under either name, and grew. */
static void names_of_unlike_sources_leave_a_callers_total_alone(void **state) {
  (void)state;
  uint32_t of_a = below(&a, 0, "symtab", "main"), of_b = below(&b, 0, "dwarf", "main");
  add_evenly(&a, below(&a, of_a, "symtab", "parse"), 7000);
  add_of(&a, "libc", "read", NULL, 3000);
  add_evenly(&b, below(&b, of_b, "dwarf", "parse"), 2500);
  add_evenly(&b, below(&b, below(&b, of_b, "dwarf", "parse"), "dwarf", "step"), 5500);
  add_of(&b, "libc", "read", NULL, 2000);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(find("main")->total.verdict, VIEW_CHANGED);
  assert_true(find("main")->total.high - find("main")->total.low < 0.05);
  assert_int_equal(find("parse")->total.verdict, VIEW_CHANGED);
  assert_int_equal(find("parse")->self.doubt, VIEW_UNLIKE);
  assert_int_equal(find("step")->total.doubt, VIEW_UNLIKE);
}

/* The kernel has samples and a clock's time, which `parse` may have called. */
static void a_clock_beside_samples_hides_differences_of_totals(void **state) {
  (void)state;
  add(&a, "parse", NULL, 3000), add(&a, "rest", NULL, 7000);
  add(&b, "parse", NULL, 2000), add(&b, "rest", NULL, 5000);
  uint32_t kernel = node_of(&b, "[kernel]", "[kernel]", NULL);
  add_evenly(&b, kernel, 1000);
  for (uint64_t i = 0; i < STRETCHES; i++) {
    tree_builder_turn(&b.builder, "", i * STRETCH_MS, (i + 1) * STRETCH_MS);
    tree_builder_add(&b.builder, kernel, 0, 2000 * WEIGHT_NS / STRETCHES);
  }
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(find("parse")->self.verdict, VIEW_CHANGED);
  assert_int_equal(find("parse")->total.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("parse")->total.doubt, VIEW_HIDDEN);
}

/* Code without debug information, such as assembler, has twice the share. */
static void what_both_sides_name_alike_is_no_doubt(void **state) {
  (void)state;
  add_named_by(&a, "dwarf", "parse", 9000), add_named_by(&a, "symtab", "memcpy", 1000);
  add_named_by(&b, "dwarf", "parse", 8000), add_named_by(&b, "symtab", "memcpy", 2000);
  add_named_by(&a, "dwarf", "old", 10), add_named_by(&b, "symtab", "new", 10); /* one in 1000 */
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(find("memcpy")->self.verdict, VIEW_CHANGED);
  assert_int_equal(find("parse")->self.verdict, VIEW_CHANGED);
}

/* Both sides have names from debug information, except a hundredth of one. */
static void like_sources_still_prove_a_change(void **state) {
  (void)state;
  add_named_by(&a, "dwarf", "parse", 8000), add_named_by(&a, "symtab", "memcpy", 100);
  add_named_by(&a, "dwarf", "step", 2000);
  add_named_by(&b, "dwarf", "parse", 5000), add_named_by(&b, "dwarf", "step", 5000);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(find("parse")->self.verdict, VIEW_CHANGED);
  assert_int_equal(find("step")->self.verdict, VIEW_CHANGED);
}

static void few_samples_prove_nothing(void **state) {
  (void)state;
  add(&a, "x", NULL, 6), add(&a, "y", NULL, 4);
  add(&b, "x", NULL, 4), add(&b, "y", NULL, 6);
  end(&a), end(&b);
  compare(&a, &b);
  for (uint32_t i = 0; i < diff.count; i++)
    assert_int_equal(diff.rows[i].self.verdict, VIEW_UNCLEAR);
}

/* By their count 4040 samples, and a difference of 18 points sure; but forty of them decide. */
static void a_few_heavy_samples_prove_nothing(void **state) {
  (void)state;
  add(&a, "x", NULL, 1200), add(&a, "y", NULL, 2800);
  add(&b, "x", NULL, 1200), add(&b, "y", NULL, 2800);
  for (unsigned i = 0; i < 40; i++)
    add_heavy(&a, i < 12 ? "x" : "y", 7 * i), add_heavy(&b, i < 20 ? "x" : "y", 7 * i);
  end(&a), end(&b);
  compare(&a, &b);
  assert_true(find("x")->self.difference > 0.18);
  assert_true(find("x")->self.low < 0);
  for (uint32_t i = 0; i < diff.count; i++)
    assert_int_equal(diff.rows[i].self.verdict, VIEW_UNCLEAR);
}

static void an_empty_side_is_no_crash(void **state) {
  (void)state;
  add(&b, "x", NULL, 1000);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(diff.count, 1);
  assert_int_equal(diff.rows[0].self.verdict, VIEW_UNCLEAR);
  compare(&a, &a);
  assert_int_equal(diff.count, 0);
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

/* The same program twice: of a thousand functions none is called changed, in at least nineteen of
   twenty cases. */
static void chance_is_not_called_change(void **state) {
  unsigned wrong = 0;
  srand(1);
  for (int round = 0; round < 40; round++) {
    add_by_chance(&a), add_by_chance(&b);
    compare(&a, &b);
    bool has_change = false;
    for (uint32_t i = 0; i < diff.count; i++)
      has_change |= diff.rows[i].self.verdict == VIEW_CHANGED;
    wrong += has_change;
    teardown(state);
    assert_int_equal(setup(state), 0);
  }
  end(&a), end(&b);
  assert_true(wrong <= 5);
}

/* 200 samples of stretch AT, PARSE of them in `parse`. */
static void add_stretch(struct side *side, unsigned at, uint64_t parse) {
  tree_builder_turn(&side->builder, "", at * STRETCH_MS, (at + 1) * STRETCH_MS);
  tree_builder_add(&side->builder, node_of(side, "tool", "parse", NULL), parse, 10 * parse);
  tree_builder_add(&side->builder, node_of(side, "tool", "rest", NULL), 200 - parse,
                   10 * (200 - parse));
}

static bool is_near(double value, double expected) {
  return fabs(value / expected - 1) < 0.01;
}

/* The example of docs/statistics.md. */
static void the_example_by_hand_has_these_numbers(void **state) {
  (void)state;
  for (unsigned i = 0; i < 12; i++) {
    add_stretch(&a, i, i % 2 == 0 ? 34 : 46);
    add_stretch(&b, i, i % 2 == 0 ? 48 : 64);
  }
  end(&a), end(&b);
  compare(&a, &b);
  const struct view_change *parse = &find("parse")->self;
  assert_true(is_near(parse->low, 0.0486) && is_near(parse->high, 0.1114));
  assert_true(is_near(parse->p_alone, 0.0000323));
  assert_int_equal(parse->verdict, VIEW_CHANGED);
  assert_int_equal(diff.basis.a.units, 12);
  assert_true(diff.basis.a_seconds > 0.9 && diff.basis.a_seconds < 1.1);
}

/* The same with 11 stretches. */
static void too_few_stretches_are_no_premise(void **state) {
  (void)state;
  for (unsigned i = 0; i < 11; i++) add_stretch(&a, i, 34), add_stretch(&b, i, 64);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(find("parse")->self.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("parse")->self.doubt, VIEW_SHORT);
  assert_true(isinf(find("parse")->self.detectable));
  assert_true(isnan(find("parse")->self.low) && isnan(find("parse")->self.high));
}

/* 48 stretches, `parse` in every second dozen of them: a phase counts as one or two stretches. */
static void stretches_of_one_phase_are_no_independent_ones(void **state) {
  (void)state;
  for (unsigned i = 0; i < 48; i++) {
    add_stretch(&a, i, i / 12 % 2 == 0 ? 0 : 100);
    add_stretch(&b, i, i / 12 % 2 == 0 ? 40 : 160);
  }
  end(&a), end(&b);
  compare(&a, &b);
  assert_in_range(diff.basis.a.units, 1, 6);
  assert_int_equal(find("parse")->self.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("parse")->self.doubt, VIEW_SHORT);
}

/* A third of b was not sampled: it may be `parse`, whose share of the samples is smaller. */
static void what_nothing_sampled_may_hide_the_difference(void **state) {
  (void)state;
  add(&a, "parse", NULL, 6000), add(&a, "rest", NULL, 4000);
  add(&b, "parse", NULL, 3000), add(&b, "rest", NULL, 4000);
  add_of(&b, "[unsampled]", "[unsampled]", NULL, 3000);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(find("parse")->self.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("parse")->self.doubt, VIEW_HIDDEN);
  assert_true(find("parse")->self.high >= 0);
  assert_true(find("parse")->self.detectable < 0.1); /* an increase would show */
}

/* A stack of main, CALLER and LEAF. */
static uint32_t leaf_of(struct side *side, const char *caller, const char *leaf) {
  uint32_t at = node_of(side, "tool", "main", NULL);
  const char *const names[] = {caller, leaf};
  for (unsigned i = 0; i < 2; i++) {
    const struct view_function wanted = {.name = names[i], .module = "tool"};
    uint32_t function;
    assert_int_equal(function_table_intern(&side->builder.functions, &wanted, false, &function), 0);
    assert_int_equal(tree_builder_child(&side->builder, at, function, &at), 0);
  }
  return at;
}

/* `validate` has no self time; its callees have other callers too. */
static void a_new_function_whose_callees_cost_is_new(void **state) {
  (void)state;
  add_evenly(&a, leaf_of(&a, "order", "compare"), 5000), add(&a, "rest", NULL, 5000);
  add_evenly(&b, leaf_of(&b, "order", "compare"), 5000), add(&b, "rest", NULL, 5000);
  add_evenly(&b, leaf_of(&b, "validate", "compare"), 2500);
  end(&a), end(&b);
  compare(&a, &b);
  const struct view_diff_row *validate = find("validate");
  assert_int_equal(validate->total.verdict, VIEW_NEW);
  assert_true(is_near(validate->total.b, 0.2));
  assert_false(validate->self.is_tested);
  assert_int_equal(validate->self.verdict, VIEW_SAME);
  assert_true(isfinite(validate->self.detectable));
  assert_int_equal(find("main")->total.verdict, VIEW_CHANGED);
  assert_true(is_near(find("main")->total.b, 0.6));
}

/* The work of `step` grows by half; the rest is unchanged, and has a smaller share. */
static void cpu_time_tells_what_grew_from_what_was_diluted(void **state) {
  static const struct view_diff_options options = {
      .measure = VIEW_CPU, .of = VIEW_TOTAL, .units = {"run", 1, 1}};
  (void)state;
  add(&a, "step", NULL, 10000), add(&a, "rest", NULL, 10000);
  add(&b, "step", NULL, 20000), add(&b, "rest", NULL, 10000);
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &options, &arena, &diff), 0);
  assert_int_equal(find("rest")->total.verdict, VIEW_CHANGED);
  assert_true(find("rest")->total.difference < -0.1);
  assert_int_equal(find("rest")->cpu.verdict, VIEW_UNCLEAR); /* runs differ by as much as 10 % */
  assert_int_equal(find("rest")->cpu.doubt, VIEW_NO_DOUBT);
  assert_true(is_near(find("step")->cpu.difference, 0.5));
  assert_int_equal(find("step")->cpu.verdict, VIEW_CHANGED);
  assert_true(is_near(diff.whole.ratio, 1.5));
  assert_int_equal(diff.whole.verdict, VIEW_CHANGED);
}

/* 8 % more may be another run of the same. */
static void runs_that_differ_as_runs_do_are_unclear(void **state) {
  (void)state;
  add(&a, "rest", NULL, 10000), add(&b, "rest", NULL, 10800);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(diff.whole.verdict, VIEW_UNCLEAR);
  assert_int_equal(diff.whole.doubt, VIEW_RUNS);
  assert_true(is_near(diff.whole.detectable, 0.1459)); /* 1.1 to the power 1 + 0.84 / 1.96 */
  assert_true(diff.whole.low < 1 && diff.whole.high > 1);
  assert_true(isnan(diff.whole.p)); /* a rule of thumb has none */
}

/* A twentieth of a second: the variation between such short runs is larger. */
static void the_whole_of_a_short_run_is_unclear(void **state) {
  (void)state;
  add(&a, "rest", NULL, 500), add(&b, "rest", NULL, 1000);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(diff.whole.verdict, VIEW_UNCLEAR);
  assert_int_equal(diff.whole.doubt, VIEW_SHORT);
}

/* Eight boards, then ten: each takes as much as before, and so does the fleet per board. */
static void boards_are_compared_by_what_each_takes(void **state) {
  static const struct view_diff_options options = {
      .measure = VIEW_CPU, .of = VIEW_TOTAL, .units = {"board-hour", 8, 10}};
  (void)state;
  for (unsigned i = 0; i < 18; i++) {
    struct side *side = i < 8 ? &a : &b;
    char board[16];
    snprintf(board, sizeof board, "board-%u", i);
    tree_builder_turn(&side->builder, board, 0, 10000);
    tree_builder_add(&side->builder, node_of(side, "tool", "rest", NULL), 1000 + i % 3,
                     10000 + 10 * (i % 3));
  }
  end(&a), end(&b);
  assert_int_equal(view_diff(&a.tree, &b.tree, &options, &arena, &diff), 0);
  assert_int_equal(diff.scope, VIEW_FLEET);
  assert_true(fabs(diff.whole.ratio - 1) < 0.01);
  assert_int_equal(diff.whole.verdict, VIEW_SAME);
  assert_int_equal(find("rest")->cpu.verdict, VIEW_SAME);
}

/* Of 0.1 s of CPU time. */
static void the_whole_of_short_runs_has_no_interval(void **state) {
  (void)state;
  add(&a, "f", NULL, 1000), add(&b, "f", NULL, 1200);
  end(&a), end(&b);
  compare(&a, &b);
  assert_int_equal(diff.whole.doubt, VIEW_SHORT);
  assert_true(isnan(diff.whole.low) && isnan(diff.whole.high) && isinf(diff.whole.detectable));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_whole_of_short_runs_has_no_interval, setup, teardown),
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
      cmocka_unit_test_setup_teardown(names_of_unlike_sources_leave_a_callers_total_alone, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(a_clock_beside_samples_hides_differences_of_totals, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(what_both_sides_name_alike_is_no_doubt, setup, teardown),
      cmocka_unit_test_setup_teardown(like_sources_still_prove_a_change, setup, teardown),
      cmocka_unit_test_setup_teardown(few_samples_prove_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(a_few_heavy_samples_prove_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(an_empty_side_is_no_crash, setup, teardown),
      cmocka_unit_test_setup_teardown(chance_is_not_called_change, setup, teardown),
      cmocka_unit_test_setup_teardown(the_example_by_hand_has_these_numbers, setup, teardown),
      cmocka_unit_test_setup_teardown(too_few_stretches_are_no_premise, setup, teardown),
      cmocka_unit_test_setup_teardown(stretches_of_one_phase_are_no_independent_ones, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(what_nothing_sampled_may_hide_the_difference, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(a_new_function_whose_callees_cost_is_new, setup, teardown),
      cmocka_unit_test_setup_teardown(cpu_time_tells_what_grew_from_what_was_diluted, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(runs_that_differ_as_runs_do_are_unclear, setup, teardown),
      cmocka_unit_test_setup_teardown(the_whole_of_a_short_run_is_unclear, setup, teardown),
      cmocka_unit_test_setup_teardown(boards_are_compared_by_what_each_takes, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
