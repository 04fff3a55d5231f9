/* SPDX-License-Identifier: Apache-2.0 */
/* One forest out of several: the same node has one number, another has another. */
#include "store/scan_forest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct store_module a_modules[] = {{{(const uint8_t *)"\x01", 1}, "/bin/a", MODULE_ELF},
                                          {{NULL, 0}, "[kernel]", MODULE_PSEUDO}};
static struct store_node a_nodes[] = {{BATCH_NONE, 0, 16}, {0, 0, 32}, {0, 1, 32}, {1, 0, 32}};
static const struct store_forest a = {
    .node_count = 4, .module_count = 2, .nodes = a_nodes, .modules = a_modules};

/* Another build of /bin/a, and the modules and nodes of A in another order. */
static struct store_module b_modules[] = {{{NULL, 0}, "[kernel]", MODULE_PSEUDO},
                                          {{(const uint8_t *)"\x02", 1}, "/bin/a", MODULE_ELF},
                                          {{(const uint8_t *)"\x01", 1}, "/bin/a", MODULE_ELF}};
static struct store_node b_nodes[] = {{BATCH_NONE, 1, 16}, {BATCH_NONE, 2, 16}, {1, 0, 32},
                                      {1, 2, 32},          {0, 2, 32},          {3, 2, 32}};
static const struct store_forest b = {
    .node_count = 6, .module_count = 3, .nodes = b_nodes, .modules = b_modules};

static void the_same_stack_has_one_number_and_another_has_another(void **state) {
  (void)state;
  static const uint32_t expected[] = {4, 0, 2, 1, 5, 3};
  struct scan_forest *forest = scan_forest_new();
  assert_non_null(forest);
  const struct store_forest *whole = &forest->whole;
  uint32_t *a_map = (uint32_t *)forest, *b_map = NULL, *again = NULL;
  assert_int_equal(scan_forest_add(forest, &a, &a_map), 0);
  assert_null(a_map); /* the first keeps its own */
  assert_int_equal(whole->node_count, 4);
  uint64_t id = whole->id;
  assert_true(id > 0);
  assert_int_equal(scan_forest_add(forest, &b, &b_map), 0);
  assert_true(whole->id > id); /* what was looked up for it holds no more */
  assert_int_equal(whole->node_count, 6);
  assert_int_equal(whole->module_count, 3);
  assert_memory_equal(b_map, expected, sizeof expected);
  for (uint32_t i = 0; i < whole->node_count; i++)
    assert_true(whole->nodes[i].parent == BATCH_NONE || whole->nodes[i].parent < i);
  assert_int_equal(whole->modules[whole->nodes[4].module].id.data[0], 2);
  assert_int_equal(scan_forest_add(forest, &a, &again), 0);
  assert_int_equal(whole->node_count, 6);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(again[i], i);
  free(b_map);
  free(again);
  scan_forest_free(forest);
}

static void a_cleared_one_begins_anew_under_another_id(void **state) {
  (void)state;
  struct scan_forest *forest = scan_forest_new();
  assert_non_null(forest);
  const struct store_forest *whole = &forest->whole;
  uint32_t *map = NULL;
  assert_int_equal(scan_forest_add(forest, &a, &map), 0);
  uint64_t id = whole->id;
  uint64_t epoch = forest->epoch;
  scan_forest_clear(forest);
  assert_true(forest->epoch != epoch); /* numbers of before hold no more */
  assert_int_equal(whole->node_count, 0);
  assert_int_equal(scan_forest_add(forest, &b, &map), 0);
  assert_null(map);
  assert_int_equal(whole->node_count, 6);
  assert_true(whole->id > id);
  scan_forest_free(forest);
}

static void the_rest_has_one_node_whenever_it_is_added(void **state) {
  (void)state;
  struct scan_forest *forest = scan_forest_new();
  assert_non_null(forest);
  const struct store_forest *whole = &forest->whole;
  uint32_t *a_map = NULL, *b_map = NULL, *again = NULL;
  assert_int_equal(scan_forest_add(forest, &a, &a_map), 0);
  uint64_t id = whole->id;
  assert_int_equal(scan_forest_add_rest(forest), 0);
  assert_true(whole->id > id);
  assert_int_equal(whole->node_count, 5);
  assert_int_equal(forest->whole.rest, 5);
  assert_string_equal(whole->modules[whole->nodes[4].module].path, STORE_REST);
  assert_int_equal(whole->nodes[4].parent, BATCH_NONE);
  assert_int_equal(scan_forest_add(forest, &b, &b_map), 0);
  assert_int_equal(scan_forest_add_rest(forest), 0);
  assert_int_equal(whole->node_count, 7);
  assert_int_equal(scan_forest_add(forest, &a, &again), 0);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(again[i], i);
  scan_forest_clear(forest);
  assert_int_equal(forest->whole.rest, 0);
  free(b_map);
  free(again);
  scan_forest_free(forest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_stack_has_one_number_and_another_has_another),
      cmocka_unit_test(the_rest_has_one_node_whenever_it_is_added),
      cmocka_unit_test(a_cleared_one_begins_anew_under_another_id),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
