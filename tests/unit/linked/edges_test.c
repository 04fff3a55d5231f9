/* SPDX-License-Identifier: Apache-2.0 */
/* Edges add up, from stacks, from pairs, and from both. */
#include "linked/edges.h"

#include "common/arena.h"
#include "view/interval.h"
#include "view/tree_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { A = 1, B, C, F, G, FUNCTIONS };

struct world {
  struct arena arena;
  struct tree_builder builder;
  struct pair_links pairs;
  struct edge_answer answer;
};

static int set_up(void **state) {
  static const char *const names[] = {"", "A", "B", "C", "F", "G"};
  struct world *world = calloc(1, sizeof *world);
  arena_init(&world->arena, 1 << 20);
  assert_int_equal(tree_builder_init(&world->builder, &world->arena), 0);
  for (uint32_t i = A; i < FUNCTIONS; i++) {
    const struct view_function function = {.name = names[i], .module = "tool"};
    uint32_t index = 0;
    assert_int_equal(function_table_intern(&world->builder.functions, &function, true, &index), 0);
    assert_int_equal(index, i);
  }
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  tree_builder_fini(&world->builder);
  pair_links_fini(&world->pairs);
  arena_fini(&world->arena);
  free(world);
  return 0;
}

/* FRAMES: outermost first, 0 at the end. */
static void add_stack(struct world *world, const uint32_t *frames, uint64_t count) {
  uint32_t node = 0;
  for (; *frames != 0; frames++)
    assert_int_equal(tree_builder_child(&world->builder, node, *frames, &node), 0);
  tree_builder_add(&world->builder, node, count, count * 10);
}

static void add_pair(struct world *world, uint32_t callee, uint32_t caller, uint64_t count) {
  const struct pair_sample sample = {.key = {.callee = callee,
                                             .caller = caller,
                                             .is_leaf = true,
                                             .is_last = caller != PAIR_NO_CALLER},
                                     .rung =
                                         caller != PAIR_NO_CALLER ? PAIR_BY_ROW : PAIR_UNRESOLVED,
                                     .count = count,
                                     .weight = count * 10};
  assert_int_equal(pair_links_add(&world->pairs, &sample), 0);
}

static void ask(struct world *world, uint32_t function, enum edge_side side) {
  struct view_tree tree;
  bool is_asked[FUNCTIONS + 1] = {false}; /* and one for tests that add a function */
  is_asked[function] = true;
  assert_int_equal(tree_builder_finish(&world->builder, &world->arena, &tree), 0);
  const struct edge_question question = {&tree, &world->pairs, is_asked, side};
  assert_int_equal(edges_find(&question, &world->arena, &world->answer), 0);
  wide_sum sum = 0;
  for (uint32_t i = 0; i < world->answer.edge_count; i++)
    sum += world->answer.edges[i].measured + world->answer.edges[i].extrapolated;
  assert_int_equal(sum, world->answer.total_weight);
}

static const struct edge *edge_of(const struct world *world, uint32_t function,
                                  enum edge_kind kind) {
  for (uint32_t i = 0; i < world->answer.edge_count; i++) {
    const struct edge *edge = &world->answer.edges[i];
    if (edge->function == function && edge->kind == kind) return edge;
  }
  return NULL;
}

static void assert_edge(const struct world *world, uint32_t function, enum edge_kind kind,
                        uint64_t measured, uint64_t extrapolated) {
  const struct edge *edge = edge_of(world, function, kind);
  if (edge == NULL) fail_msg("no edge to %u", function);
  assert_int_equal(edge->measured, measured);
  assert_int_equal(edge->extrapolated, extrapolated);
}

static void add_all_stacks(struct world *world) {
  add_stack(world, (const uint32_t[]){A, F, 0}, 3);
  add_stack(world, (const uint32_t[]){A, F, F, 0}, 5);
  add_stack(world, (const uint32_t[]){B, F, G, 0}, 7);
  add_stack(world, (const uint32_t[]){A, F, G, F, 0}, 11);
  add_stack(world, (const uint32_t[]){F, 0}, 13);
  add_stack(world, (const uint32_t[]){A, B, 0}, 17); /* F is not in it */
}

static void each_stack_counts_with_the_last_edge_into_the_function(void **state) {
  struct world *world = *state;
  add_all_stacks(world);
  ask(world, F, EDGE_CALLERS);
  assert_int_equal(world->answer.total_weight, 390);
  assert_int_equal(world->answer.total_count, 39);
  assert_edge(world, A, EDGE_STACK, 30, 0);
  assert_edge(world, F, EDGE_STACK, 50, 0);
  assert_edge(world, B, EDGE_STACK, 70, 0);
  assert_edge(world, G, EDGE_STACK, 110, 0);
  assert_edge(world, EDGE_NOBODY, EDGE_STACK, 130, 0);
  assert_int_equal(world->answer.edges[0].function, EDGE_NOBODY); /* heaviest first */
}

static void each_stack_counts_with_the_last_edge_out_of_the_function(void **state) {
  struct world *world = *state;
  add_all_stacks(world);
  ask(world, F, EDGE_CALLEES);
  assert_int_equal(world->answer.total_weight, 390);
  assert_edge(world, F, EDGE_STACK, 50, 0);
  assert_edge(world, G, EDGE_STACK, 180, 0);
  assert_edge(world, EDGE_ITSELF, EDGE_STACK, 160, 0);
}

static void what_is_known_of_the_code_is_summed_up(void **state) {
  struct world *world = *state;
  struct pair_sample sample = {.key = {.callee = F, .caller = PAIR_NO_CALLER, .is_leaf = true},
                               .is_outside = true,
                               .is_refuted = true,
                               .is_tangled = true,
                               .count = 1,
                               .weight = 10};
  assert_int_equal(pair_links_add(&world->pairs, &sample), 0);
  sample.is_refuted = sample.is_tangled = false;
  sample.is_unseen = true;
  assert_int_equal(pair_links_add(&world->pairs, &sample), 0);
  sample.is_outside = false;
  assert_int_equal(pair_links_add(&world->pairs, &sample), 0);
  ask(world, F, EDGE_CALLERS);
  assert_int_equal(world->answer.tangled_weight, 10);
  assert_int_equal(world->answer.refuted_weight, 10);
  assert_int_equal(world->answer.outside_weight, 20);
  assert_int_equal(world->answer.unseen_weight, 20);
}

static void unresolved_weight_is_spread_as_what_was_measured(void **state) {
  struct world *world = *state;
  add_pair(world, F, A, 30);
  add_pair(world, F, B, 20);
  add_pair(world, F, F, 11);
  add_pair(world, F, PAIR_NO_CALLER, 100);
  add_pair(world, G, A, 1000);
  ask(world, F, EDGE_CALLERS);
  assert_int_equal(world->answer.total_weight, 1610);
  assert_int_equal(world->answer.rung_weight[PAIR_UNRESOLVED], 1000);
  assert_int_equal(world->answer.refused_weight, 0);
  assert_edge(world, A, EDGE_LR, 300, 1000 * 30 / 61);
  const struct edge *edge = edge_of(world, A, EDGE_LR);
  struct view_share wilson = interval_wilson(30. / 61, 61);
  assert_true(fabs(edge->share.share - 30. / 61) < .001);
  assert_true(fabs(edge->share.low - wilson.low) < .001);
  assert_true(fabs(edge->share.high - wilson.high) < .001);
}

static void too_few_resolved_samples_are_not_made_more_of(void **state) {
  struct world *world = *state;
  add_pair(world, F, A, EDGES_RESOLVABLE_MIN - 1);
  add_pair(world, F, PAIR_NO_CALLER, 71);
  ask(world, F, EDGE_CALLERS);
  assert_int_equal(world->answer.total_weight, 1000);
  assert_int_equal(world->answer.refused_weight, 710);
  assert_edge(world, A, EDGE_LR, 290, 0);
  assert_edge(world, EDGE_UNRESOLVED, EDGE_LR, 710, 0);
  assert_true(edge_of(world, A, EDGE_LR)->share.high > .999); /* it may be all of it */
}

static void at_the_least_number_they_are(void **state) {
  struct world *world = *state;
  add_pair(world, F, A, EDGES_RESOLVABLE_MIN);
  add_pair(world, F, PAIR_NO_CALLER, 70);
  ask(world, F, EDGE_CALLERS);
  assert_edge(world, A, EDGE_LR, 300, 700);
  assert_null(edge_of(world, EDGE_UNRESOLVED, EDGE_LR));
}

static void a_callee_gets_its_own_unresolved_weight_by_its_own_mix(void **state) {
  struct world *world = *state;
  add_pair(world, G, F, 40);
  add_pair(world, G, A, 60);
  add_pair(world, G, PAIR_NO_CALLER, 50);
  add_pair(world, F, A, 30);
  add_pair(world, F, F, 10);
  add_pair(world, F, PAIR_NO_CALLER, 20);
  ask(world, F, EDGE_CALLEES);
  assert_edge(world, G, EDGE_LR, 400, 200);
  assert_edge(world, F, EDGE_LR, 100, 50);
  assert_edge(world, EDGE_ITSELF, EDGE_LR, 450, 0);
  assert_int_equal(world->answer.total_weight, 600 + 600); /* G's share, and all of F's own */
}

static void what_is_inlined_has_one_caller_and_says_nothing_of_the_rest(void **state) {
  struct world *world = *state;
  const struct pair_sample inlined = {
      .key = {.callee = F, .caller = C, .is_inlined = true, .is_leaf = true, .is_last = true},
      .rung = PAIR_BY_INLINE,
      .count = 500,
      .weight = 5000};
  assert_int_equal(pair_links_add(&world->pairs, &inlined), 0);
  add_pair(world, F, A, 40);
  add_pair(world, F, PAIR_NO_CALLER, 60);
  ask(world, F, EDGE_CALLERS);
  assert_edge(world, C, EDGE_LR, 5000, 0);
  assert_edge(world, A, EDGE_LR, 400, 600);
}

static void both_kinds_stand_side_by_side(void **state) {
  struct world *world = *state;
  add_stack(world, (const uint32_t[]){A, F, 0}, 100);
  add_pair(world, F, A, 60);
  add_pair(world, F, B, 40);
  ask(world, F, EDGE_CALLERS);
  assert_int_equal(world->answer.edge_count, 3);
  assert_edge(world, A, EDGE_STACK, 1000, 0);
  assert_edge(world, A, EDGE_LR, 600, 0);
  assert_edge(world, B, EDGE_LR, 400, 0);
  assert_int_equal(world->answer.parts[EDGE_STACK].weight, 1000);
  assert_int_equal(world->answer.parts[EDGE_LR].count, 100);
}

/* Windows of ten seconds; stacks' groups take the same turns. */
static void turn(struct world *world, const char *board, unsigned stretch) {
  uint64_t start_ms = (1000 + stretch) * UINT64_C(10000);
  pair_links_turn(&world->pairs, board, start_ms, start_ms + 10000);
  tree_builder_turn(&world->builder, board, start_ms, start_ms + 10000);
}

/* A hundred samples of one caller, then as many of the other: for extrapolation they carry as much
   information as two samples. */
static void samples_in_bursts_tell_less_than_as_many_that_are_mixed(void **state) {
  struct world *world = *state;
  for (unsigned i = 0; i < 10; i++) {
    turn(world, "b1", i);
    add_pair(world, F, i % 3 == 0 ? A : B, 100);
    add_pair(world, F, PAIR_NO_CALLER, 50);
  }
  ask(world, F, EDGE_CALLERS);
  struct view_basis basis = ratio_basis(&world->answer.basis);
  assert_string_equal(basis.unit, "stretches of time");
  assert_int_equal(basis.units, 10);
  assert_string_equal(ratio_scope(&basis), "these");
  const struct edge *edge = edge_of(world, A, EDGE_LR);
  struct view_share samples = interval_wilson(.4, 1000);
  assert_true(fabs(edge->share.share - .4) < 1e-6);
  assert_true(edge->share.high - edge->share.low > 8 * (samples.high - samples.low));
}

/* One board's time was fully sampled; other boards of the fleet may differ as much. */
static void stacks_in_bursts_widen_intervals_of_boards_alone(void **state) {
  static const char boards[][4] = {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"};
  struct view_share samples = interval_wilson(.4, 1000);
  for (int are_boards = 0; are_boards < 2; are_boards++) {
    assert_int_equal(tear_down(state), 0);
    assert_int_equal(set_up(state), 0);
    struct world *world = *state;
    for (unsigned i = 0; i < 10; i++) {
      turn(world, boards[are_boards ? i : 0], are_boards ? 0 : i);
      add_stack(world, (const uint32_t[]){i % 3 == 0 ? A : B, F, 0}, 100);
    }
    ask(world, F, EDGE_CALLERS);
    struct view_basis basis = ratio_basis(&world->answer.basis);
    const struct edge *edge = edge_of(world, A, EDGE_STACK);
    assert_string_equal(basis.unit, are_boards ? "boards" : "samples");
    assert_string_equal(ratio_scope(&basis), are_boards ? "fleet" : "these");
    if (are_boards) {
      assert_true(edge->share.high - edge->share.low > 8 * (samples.high - samples.low));
    } else {
      assert_true(fabs(edge->share.low - samples.low) < 1e-9);
      assert_true(fabs(edge->share.high - samples.high) < 1e-9);
    }
  }
}

/* 100 stacks of A -> F, 60 of B -> F, and 40 that end above F for want of a table: any caller may
   have these. */
static void stacks_that_end_above_the_function_raise_its_callers(void **state) {
  const struct view_function end = {
      .name = "[no table]", .module = "[no table]", .end = STACK_NO_TABLE};
  struct world *world = *state;
  uint32_t no_table;
  assert_int_equal(function_table_intern(&world->builder.functions, &end, false, &no_table), 0);
  add_stack(world, (const uint32_t[]){A, F, 0}, 100);
  add_stack(world, (const uint32_t[]){B, F, 0}, 60);
  add_stack(world, (const uint32_t[]){no_table, F, 0}, 40);
  ask(world, F, EDGE_CALLERS);
  const struct edge *edge = edge_of(world, A, EDGE_STACK);
  struct view_share samples = interval_wilson(.5, 200);
  assert_true(fabs(edge->share.low - samples.low) < 1e-9);
  assert_true(fabs(edge->share.high - (samples.high + .2)) < 1e-9);
  edge = edge_of(world, no_table, EDGE_STACK);
  assert_true(fabs(edge->share.high - interval_wilson(.2, 200).high) < 1e-9);
}

static void where_units_are_alike_the_samples_alone_have_a_say(void **state) {
  struct world *world = *state;
  const char boards[][3] = {"b1", "b2", "b3", "b4", "b5", "b6"};
  for (unsigned i = 0; i < 6; i++) {
    turn(world, boards[i], 0);
    add_pair(world, F, A, 40);
    add_pair(world, F, B, 60);
    add_pair(world, F, PAIR_NO_CALLER,
             50 + 10 * i); /* differs, without information about callers */
  }
  ask(world, F, EDGE_CALLERS);
  assert_string_equal(ratio_basis(&world->answer.basis).unit, "boards");
  const struct edge *edge = edge_of(world, A, EDGE_LR);
  struct view_share samples = interval_wilson(.4, 600);
  assert_true(fabs(edge->share.low - samples.low) < 1e-4);
  assert_true(fabs(edge->share.high - samples.high) < 1e-4);
}

static void stacks_and_pairs_are_of_the_same_units(void **state) {
  struct world *world = *state;
  const char boards[][4] = {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"};
  for (unsigned i = 0; i < 8; i++) {
    turn(world, boards[i], i);
    add_stack(world, (const uint32_t[]){i % 2 == 0 ? A : B, F, 0}, 100);
    add_pair(world, F, i % 2 == 0 ? A : C, 100);
  }
  ask(world, F, EDGE_CALLERS);
  for (unsigned i = 0; i < 8; i++)
    assert_true(fabs(world->answer.basis.wholes[i] - 2000) < 1.5); /* weights, rounded */
  assert_true(edge_of(world, A, EDGE_STACK)->share.low < .1);
  assert_true(edge_of(world, B, EDGE_STACK)->share.high > .4);
  assert_true(edge_of(world, C, EDGE_LR)->share.high > .4);
}

/* Of callees each function's own callers' mix is known from units of its own. */
static void what_callees_have_in_each_unit_adds_up(void **state) {
  struct world *world = *state;
  for (unsigned i = 0; i < 10; i++) {
    turn(world, "b1", i);
    add_pair(world, G, i % 2 == 0 ? F : A, 100);
    add_pair(world, G, PAIR_NO_CALLER, 100);
    add_pair(world, F, F, 10);
    add_pair(world, F, A, 10);
    add_pair(world, F, PAIR_NO_CALLER, 20);
  }
  ask(world, F, EDGE_CALLEES);
  double sum = 0;
  for (unsigned i = 0; i < world->answer.basis.count; i++) sum += world->answer.basis.wholes[i];
  assert_true(fabs(sum - (double)world->answer.total_weight) < 20);
  const struct edge *edge = edge_of(world, G, EDGE_LR);
  assert_true(edge->share.high - edge->share.low > .1);
  struct view_share samples = interval_wilson(edge->share.share, 500 / edge->share.share);
  assert_true(edge->share.low < samples.low);
}

static uint64_t next_random(uint64_t *random) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *random >> 33;
}

/* A program that resolves a third of its pairs, with 150 samples a stretch of time in runs of
   LENGTH of one caller. Returns the number of its edges' intervals that contain the truth, 0.3. */
static int edges_that_hold(struct world *world, uint64_t *random, unsigned length) {
  for (unsigned i = 0; i < 12; i++) {
    turn(world, "b1", i);
    for (unsigned seen = 0; seen < 50; seen += length)
      add_pair(world, F, next_random(random) % 10 < 3 ? A : B, length);
    add_pair(world, F, PAIR_NO_CALLER, 100);
  }
  ask(world, F, EDGE_CALLERS);
  const struct edge *a = edge_of(world, A, EDGE_LR), *b = edge_of(world, B, EDGE_LR);
  return (a != NULL && a->share.low <= .3 && .3 <= a->share.high) +
         (b != NULL && b->share.low <= .7 && .7 <= b->share.high);
}

static void intervals_hold_whether_samples_come_alone_or_in_bursts(void **state) {
  const unsigned lengths[] = {1, 5, 25};
  const int runs = 300;
  uint64_t random = 7;
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    int held = 0;
    for (int run = 0; run < runs; run++) {
      void *world = NULL;
      set_up(&world);
      held += edges_that_hold(world, &random, lengths[i]);
      tear_down(&world);
    }
    print_message("bursts of %u: %.1f %% hold\n", lengths[i], 50. * held / runs);
    assert_true(held * 50 >= runs * 92); /* 95 +- 1.3 by right */
  }
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(each_stack_counts_with_the_last_edge_into_the_function),
      CLAIM(each_stack_counts_with_the_last_edge_out_of_the_function),
      CLAIM(what_is_known_of_the_code_is_summed_up),
      CLAIM(unresolved_weight_is_spread_as_what_was_measured),
      CLAIM(too_few_resolved_samples_are_not_made_more_of),
      CLAIM(at_the_least_number_they_are),
      CLAIM(a_callee_gets_its_own_unresolved_weight_by_its_own_mix),
      CLAIM(what_is_inlined_has_one_caller_and_says_nothing_of_the_rest),
      CLAIM(both_kinds_stand_side_by_side),
      CLAIM(samples_in_bursts_tell_less_than_as_many_that_are_mixed),
      CLAIM(stacks_in_bursts_widen_intervals_of_boards_alone),
      CLAIM(stacks_that_end_above_the_function_raise_its_callers),
      CLAIM(where_units_are_alike_the_samples_alone_have_a_say),
      CLAIM(stacks_and_pairs_are_of_the_same_units),
      CLAIM(what_callees_have_in_each_unit_adds_up),
      cmocka_unit_test(intervals_hold_whether_samples_come_alone_or_in_bursts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
