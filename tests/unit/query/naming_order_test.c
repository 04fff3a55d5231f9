/* SPDX-License-Identifier: Apache-2.0 */
/* Frames are visited in the order of modules and addresses, each once, independent of the order of
   adding. */
#include "query/naming_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 5000, MODULES = 3000 };

/* Few addresses, so that many are equal, over all digits of a key. */
static void make_forest(struct store_node nodes[FRAMES], struct store_forest *forest) {
  uint32_t seed = 4711;
  for (uint32_t i = 0; i < FRAMES; i++) {
    seed = seed * 1664525 + 1013904223;
    nodes[i] = (struct store_node){.parent = BATCH_NONE,
                                   .module = i % 2 == 0 ? 1 : seed >> 8 & 2047,
                                   .address = (uint64_t)(seed >> 20) << (seed >> 16 & 15)};
  }
  *forest = (struct store_forest){.node_count = FRAMES, .module_count = MODULES, .nodes = nodes};
}

static int by_module_and_address(const struct store_node *a, const struct store_node *b) {
  if (a->module != b->module) return a->module < b->module ? -1 : 1;
  return a->address < b->address ? -1 : a->address > b->address;
}

static void frames_come_by_module_and_address(void **state) {
  (void)state;
  static struct store_node nodes[FRAMES];
  static uint8_t times[FRAMES];
  struct store_forest forest;
  struct naming_order order = {0};
  make_forest(nodes, &forest);
  for (uint32_t round = 0; round < 2; round++) { /* the second in the room of the first */
    order.count = 0;
    memset(times, 0, sizeof times);
    for (uint32_t i = 0; i < FRAMES; i++)
      assert_int_equal(naming_order_add(&order, &forest, i * 7 % FRAMES), 0);
    naming_order_sort(&order);
    assert_int_equal(order.count, FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++) {
      assert_int_equal(times[order.frames[i].node]++, 0);
      if (i == 0) continue;
      const struct store_node *before = &nodes[order.frames[i - 1].node];
      assert_true(by_module_and_address(before, &nodes[order.frames[i].node]) <= 0);
    }
  }
  naming_order_fini(&order);
}

static void nothing_and_one_frame_are_in_order(void **state) {
  (void)state;
  const struct store_node node = {.module = 3, .address = UINT64_MAX};
  const struct store_forest forest = {.node_count = 1, .module_count = 4, .nodes = &node};
  struct naming_order order = {0};
  naming_order_sort(&order);
  assert_int_equal(order.count, 0);
  assert_int_equal(naming_order_add(&order, &forest, 0), 0);
  naming_order_sort(&order);
  assert_int_equal(order.count, 1);
  assert_int_equal(order.frames[0].node, 0);
  naming_order_fini(&order);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_come_by_module_and_address),
      cmocka_unit_test(nothing_and_one_frame_are_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
