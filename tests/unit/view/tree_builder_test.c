/* SPDX-License-Identifier: Apache-2.0 */
/* A tree by functions and a tree by lines of the same stacks agree about functions. */
#include "common/arena.h"
#include "common/buf.h"
#include "common/json.h"
#include "view/tree_builder.h"
#include "view/tree_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
  struct arena arena;
  struct tree_builder builder;
  struct view_tree tree;
};

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  arena_init(&world->arena, 1 << 20);
  assert_int_equal(tree_builder_init(&world->builder, &world->arena), 0);
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

static struct tree_step step_of(struct world *world, const char *name, const char *file,
                                uint32_t line) {
  const struct view_function function = {.name = name, .module = "tool"};
  const struct view_place place = {.file = file, .line = line};
  struct tree_step step = {.function = 0};
  assert_int_equal(
      function_table_intern(&world->builder.functions, &function, true, &step.function), 0);
  assert_int_equal(place_table_intern(&world->builder.places, &place, &step.place), 0);
  return step;
}

static uint32_t add(struct world *world, uint32_t parent, const struct tree_step *step,
                    uint64_t weight) {
  uint32_t node;
  assert_int_equal(tree_builder_step(&world->builder, parent, step, &node), 0);
  if (weight > 0) tree_builder_add(&world->builder, node, 1, weight);
  return node;
}

static void finish(struct world *world) {
  assert_int_equal(tree_builder_finish(&world->builder, &world->arena, &world->tree), 0);
}

static void nodes_differ_by_line_and_functions_do_not(void **state) {
  struct world *world = *state;
  struct view_top_row *rows;
  uint32_t count;
  const struct tree_step main_3 = step_of(world, "main", "tool.c", 3);
  const struct tree_step work_7 = step_of(world, "work", "tool.c", 7);
  const struct tree_step work_8 = step_of(world, "work", "tool.c", 8);
  uint32_t root = add(world, 0, &main_3, 0);
  uint32_t seven = add(world, root, &work_7, 10);
  uint32_t eight = add(world, root, &work_8, 20);
  assert_int_not_equal(seven, eight);
  assert_int_equal(add(world, root, &work_7, 5), seven);
  finish(world);
  assert_int_equal(world->tree.node_count, 4);
  assert_int_equal(world->tree.place_count, 4);
  assert_int_equal(world->tree.nodes[seven].self_weight, 15);
  assert_int_equal(world->tree.places[world->tree.nodes[eight].place].line, 8);
  assert_string_equal(world->tree.places[world->tree.nodes[eight].place].file, "tool.c");
  assert_null(world->tree.places[0].file);
  assert_int_equal(view_top(&world->tree, &world->arena, &rows, &count), 0);
  assert_int_equal(count, 2);
  assert_int_equal(rows[0].self_weight, 35);
  assert_int_equal(rows[1].total_weight, 35);
}

static void without_lines_a_pair_is_one_node(void **state) {
  struct world *world = *state;
  struct tree_step main_0 = step_of(world, "main", NULL, 0);
  assert_int_equal(main_0.place, 0);
  uint32_t node = add(world, 0, &main_0, 1), other;
  assert_int_equal(tree_builder_child(&world->builder, 0, main_0.function, &other), 0);
  assert_int_equal(node, other);
}

static void a_node_is_inlined_when_it_always_is(void **state) {
  struct world *world = *state;
  struct tree_step main_0 = step_of(world, "main", NULL, 0);
  struct tree_step both = step_of(world, "both", NULL, 0), only = step_of(world, "only", NULL, 0);
  uint32_t root = add(world, 0, &main_0, 0);
  both.is_inlined = only.is_inlined = true;
  uint32_t both_node = add(world, root, &both, 1), only_node = add(world, root, &only, 1);
  both.is_inlined = false; /* called from another place of main */
  assert_int_equal(add(world, root, &both, 1), both_node);
  both.is_inlined = true;
  assert_int_equal(add(world, root, &both, 1), both_node);
  finish(world);
  assert_false(world->tree.nodes[root].is_inlined);
  assert_false(world->tree.nodes[both_node].is_inlined);
  assert_true(world->tree.nodes[only_node].is_inlined);
}

static void a_tree_is_written_with_its_functions(void **state) {
  struct world *world = *state;
  struct buf out = {0};
  struct json json;
  struct tree_step main_0 = step_of(world, "ma\"in", NULL, 0);
  struct tree_step inner = step_of(world, "inner", NULL, 0);
  uint32_t root = add(world, 0, &main_0, 3);
  inner.is_inlined = true;
  uint32_t left_out = add(world, root, &main_0, 4);
  add(world, root, &inner, 5);
  finish(world);
  uint32_t index[4] = {0, 1, 2, 3};
  index[left_out] = UINT32_MAX;
  index[3] = 2;
  json_init(&json, &out, 1 << 20);
  json_open(&json, '{');
  assert_int_equal(tree_json_nodes(&json, &world->tree, index, &world->arena), 0);
  json_close(&json, '}');
  assert_string_equal(buf_text(&out), "{\"nodes\":["
                                      "{\"name\":\"root\",\"module\":\"\",\"file\":null,\"line\":"
                                      "null,\"quality\":null,\"parent\":-1,\"self\":0,"
                                      "\"total\":12},"
                                      "{\"name\":\"ma\\\"in\",\"module\":\"tool\",\"file\":null,"
                                      "\"line\":null,\"quality\":null,\"parent\":0,"
                                      "\"self\":3,\"total\":12},"
                                      "{\"name\":\"inner\",\"module\":\"tool\",\"file\":null,"
                                      "\"line\":null,\"quality\":null,\"parent\":1,\"self\":5,"
                                      "\"total\":5,\"inlined\":true}]}");
  buf_fini(&out);
}

static void columns_have_each_function_once(void **state) {
  struct world *world = *state;
  struct buf out = {0};
  struct json json;
  struct tree_step main_0 = step_of(world, "ma\"in", NULL, 0);
  struct tree_step inner = step_of(world, "inner", NULL, 0);
  uint32_t root = add(world, 0, &main_0, 3);
  uint32_t left_out = add(world, root, &inner, 4);
  uint32_t again = add(world, root, &main_0, 5);
  inner.is_inlined = true;
  add(world, again, &inner, 6);
  finish(world);
  uint32_t index[5] = {0, 1, 2, 3, 4};
  index[left_out] = UINT32_MAX;
  index[3] = 2;
  index[4] = 3;
  json_init(&json, &out, 1 << 20);
  json_open(&json, '{');
  assert_int_equal(tree_json_columns(&json, &world->tree, index, &world->arena), 0);
  json_close(&json, '}');
  assert_string_equal(
      buf_text(&out),
      "{\"functions\":["
      "{\"name\":\"root\",\"module\":\"\",\"file\":null,\"line\":null,\"quality\":null},"
      "{\"name\":\"ma\\\"in\",\"module\":\"tool\",\"file\":null,\"line\":null,\"quality\":null},"
      "{\"name\":\"inner\",\"module\":\"tool\",\"file\":null,\"line\":null,\"quality\":null}],"
      "\"nodes\":{\"function\":[0,1,1,2],\"parent\":[-1,0,1,2],\"self\":[0,3,5,6],"
      "\"total\":[18,18,11,6]},\"inlined\":[3]}");
  buf_fini(&out);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(nodes_differ_by_line_and_functions_do_not), FRESH(without_lines_a_pair_is_one_node),
      FRESH(a_node_is_inlined_when_it_always_is),       FRESH(a_tree_is_written_with_its_functions),
      FRESH(columns_have_each_function_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
