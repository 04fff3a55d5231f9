/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are in the order that comparing each with each would put them in. */
#include "store/row_sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 5000 };

static struct store_row rows[MANY], spare[MANY];

/* Sorts COUNT rows of nodes up to MASK of a shift, and compares their sum with that before. */
static void check(size_t count, uint32_t mask, unsigned shift) {
  uint64_t nodes = 0, weights = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t node = (uint32_t)(rand() & (int)mask) << shift;
    uint64_t records = (uint64_t)(rand() % 4);
    rows[i] = (struct store_row){node, records, records * (uint64_t)(1 + rand() % 3)};
    nodes += node;
    weights += rows[i].weight;
  }
  row_sort(rows, spare, count);
  for (size_t i = 0; i < count; i++) {
    nodes -= rows[i].node;
    weights -= rows[i].weight;
    if (i == 0) continue;
    const struct store_row *a = &rows[i - 1], *b = &rows[i];
    assert_true(a->node <= b->node);
    /* a->weight / a->count <= b->weight / b->count, none being 0 */
    if (a->node == b->node && a->count > 0 && b->count > 0)
      assert_true(a->weight * b->count <= b->weight * a->count);
    if (a->node == b->node && a->count > 0) assert_true(b->count > 0);
  }
  assert_true(nodes == 0 && weights == 0);
}

static void rows_of_all_sizes_and_spreads_are_put_in_order(void **state) {
  static const size_t counts[] = {0, 1, 2, 3, 24, 25, 26, 100, 700, MANY};
  static const unsigned shifts[] = {0, 5, 10, 11, 16, 21};
  (void)state;
  srand(1);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (size_t j = 0; j < sizeof shifts / sizeof *shifts; j++) {
      check(counts[i], 0x7ff, shifts[j]);
      check(counts[i], 0x1f, shifts[j]); /* many of one node */
      check(counts[i], 0, shifts[j]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_all_sizes_and_spreads_are_put_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
