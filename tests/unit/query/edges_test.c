/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and callees from a real store. */
#include "query/edges.h"

#include "world.h"

#include <errno.h>

static const uint64_t stack[][2] = {{0, 0x100}, {0, 0x200}, {0, 0x300}};

static int ask(struct world *world, const char *function, const char *module, enum edge_side side,
               struct edges_result *ret) {
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.from_ms = 0, .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  const struct edges_question question = {function, module, side};
  return edges_query(&source, &range, &question, &world->arena, ret);
}

static void fill(struct world *world) {
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, stack, 3, 4, 40);
  window_add(&window, stack, 2, 1, 10);
  window_add(&window, stack + 1, 2, 2, 20);
  window_make_lr(&window); /* 0x300, and the link register in 0x200 */
  window_append(&window, world->store, "b1", 1, NOON_MS);
}

static void stacks_and_pairs_are_told_apart(void **state) {
  struct world *world = *state;
  struct edges_result result;
  fill(world);
  assert_int_equal(ask(world, "tool+0x300", NULL, EDGE_CALLERS, &result), 0);
  assert_int_equal(result.answer.total_weight, 60);
  assert_int_equal(result.answer.parts[EDGE_STACK].weight, 40);
  assert_int_equal(result.answer.parts[EDGE_LR].weight, 20);
  assert_int_equal(result.answer.edge_count, 2);
  const struct edge *edge = &result.answer.edges[0];
  assert_string_equal(result.tree.functions[edge->function].name, "tool+0x200");
  /* In code without a file the link register is unresolved. */
  assert_int_equal(result.answer.edges[1].function, EDGE_UNRESOLVED);
  assert_int_equal(result.answer.refused_weight, 20);
}

static void a_function_of_another_module_is_another(void **state) {
  struct world *world = *state;
  struct edges_result result;
  fill(world);
  assert_int_equal(ask(world, "tool+0x200", "tool", EDGE_CALLEES, &result), 0);
  assert_int_equal(result.answer.total_weight, 50);
  assert_int_equal(ask(world, "tool+0x200", "lib.so", EDGE_CALLEES, &result), -ENOENT);
}

static void an_unknown_name_is_told_with_the_nearest(void **state) {
  struct world *world = *state;
  struct edges_result result;
  fill(world);
  assert_int_equal(ask(world, "tool+0x30", NULL, EDGE_CALLERS, &result), -ENOENT);
  assert_int_equal(result.near_count, 3);
  assert_string_equal(result.near_names[0], "tool+0x300");
}

static void names_are_near_by_case_then_slips_then_parts_then_beginnings(void **state) {
  static const struct view_function functions[] = {
      {.name = "root"},        {.name = "walk_begin"}, {.name = "list_walk_all"},
      {.name = "List_Walk"},   {.name = "list_wall"},  {.name = "other"},
      {.name = "list_remove"}, {.name = "list_wall"}};
  const char *names[NEAR_NAMES_MAX];
  (void)state;
  assert_int_equal(near_names_find(functions, 8, "list_walk", NULL, names), 3);
  assert_string_equal(names[0], "List_Walk");
  assert_string_equal(names[1], "list_wall");
  assert_string_equal(names[2], "list_walk_all");
  assert_int_equal(near_names_find(functions, 8, "zzz", NULL, names), 0);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(stacks_and_pairs_are_told_apart),
      CLAIM(a_function_of_another_module_is_another),
      CLAIM(an_unknown_name_is_told_with_the_nearest),
      cmocka_unit_test(names_are_near_by_case_then_slips_then_parts_then_beginnings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
