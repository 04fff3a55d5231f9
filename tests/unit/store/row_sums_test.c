/* SPDX-License-Identifier: Apache-2.0 */
/* Rows added up by node. */
#include "store/row_sums.h"

#include "common/sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PERIOD = 10101010 };

static void add(struct row_sums *sums, uint32_t node, uint64_t count, uint64_t weight) {
  const struct store_row row = {node, count, weight};
  assert_int_equal(row_sums_add(sums, &row), 0);
}

static void assert_rows(struct row_sums *sums, const struct store_row *expected, size_t count) {
  struct store_row *rows;
  size_t taken;
  assert_int_equal(row_sums_take(sums, &rows, &taken), 0);
  assert_int_equal(taken, count);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(rows[i].node, expected[i].node);
    assert_int_equal(rows[i].count, expected[i].count);
    assert_int_equal(rows[i].weight, expected[i].weight);
  }
}

static void rows_of_a_node_become_one_in_the_order_of_nodes(void **state) {
  (void)state;
  struct row_sums sums = {0};
  add(&sums, 5000, 1, PERIOD);
  add(&sums, 3, 2, 2 * PERIOD);
  add(&sums, 5000, 3, 3 * PERIOD + 1);
  assert_rows(&sums,
              (const struct store_row[]){{3, 2, 2 * PERIOD}, {5000, 4, 4 * (uint64_t)PERIOD + 1}},
              2);
  assert_rows(&sums, NULL, 0); /* taking empties */
  add(&sums, 5000, 1, 1);
  assert_rows(&sums, (const struct store_row[]){{5000, 1, 1}}, 1);
  row_sums_fini(&sums);
}

static void rows_whose_samples_weigh_unlike_stay_apart(void **state) {
  (void)state;
  struct row_sums sums = {0};
  add(&sums, 1, 10, 10 * PERIOD);
  add(&sums, 1, 1, 100 * (uint64_t)PERIOD); /* the rate was a hundredth for a while */
  add(&sums, 1, 0, 77);                     /* and clock time */
  add(&sums, 1, 1, 110 * (uint64_t)PERIOD);
  add(&sums, 1, 0, 3);
  assert_rows(
      &sums,
      (const struct store_row[]){{1, 0, 80}, {1, 10, 10 * PERIOD}, {1, 2, 210 * (uint64_t)PERIOD}},
      3);
  row_sums_fini(&sums);
}

static void no_row_is_more_than_a_signed_number_holds(void **state) {
  (void)state;
  const uint64_t most = SUM_MAX, half = most / 2 + 1;
  struct row_sums sums = {0};
  add(&sums, 1, half, half);
  add(&sums, 1, half, half);
  add(&sums, 1, 2, 2);
  add(&sums, 2, 0, most);
  add(&sums, 2, 0, most);
  assert_rows(&sums,
              (const struct store_row[]){
                  {1, half + 2, half + 2}, {1, half, half}, {2, 0, most}, {2, 0, most}},
              4);
  row_sums_fini(&sums);
}

static void assert_cut(struct store_row *rows, size_t count, size_t kept,
                       const struct store_row *expected, size_t expected_count) {
  assert_int_equal(row_sums_cut(rows, count, kept, 99), expected_count);
  for (size_t i = 0; i < expected_count; i++) {
    assert_int_equal(rows[i].node, expected[i].node);
    assert_int_equal(rows[i].count, expected[i].count);
    assert_int_equal(rows[i].weight, expected[i].weight);
  }
}

static void the_lightest_become_one_and_the_sums_stay(void **state) {
  (void)state;
  struct store_row rows[] = {{1, 1, 10}, {2, 5, 50}, {3, 1, 10}, {4, 2, 300},
                             {5, 0, 7},  {6, 1, 10}, {7, 1, 500}};
  /* One of three equal weights is among the heaviest four; clock time stays. */
  assert_cut(rows, 7, 4,
             (const struct store_row[]){
                 {1, 1, 10}, {2, 5, 50}, {4, 2, 300}, {5, 0, 7}, {7, 1, 500}, {99, 2, 20}},
             6);
  /* Samples that weigh unlike stay apart. */
  struct store_row unlike[] = {{1, 1, 10}, {2, 1, 1000}, {3, 9, 90000}, {4, 2, 30}};
  assert_cut(unlike, 4, 1, (const struct store_row[]){{3, 9, 90000}, {99, 3, 40}, {99, 1, 1000}},
             3);
  struct store_row none[] = {{1, 1, UINT64_MAX}, {2, 1, UINT64_MAX - 1}};
  assert_cut(none, 2, 1, (const struct store_row[]){{1, 1, UINT64_MAX}, {99, 1, UINT64_MAX - 1}},
             2);
  struct store_row all[] = {{1, 1, 10}, {2, 1, 11}};
  assert_cut(all, 2, 0, (const struct store_row[]){{99, 2, 21}}, 1);
  struct store_row enough[] = {{1, 1, 10}, {2, 0, 11}};
  assert_cut(enough, 2, 2, (const struct store_row[]){{1, 1, 10}, {2, 0, 11}}, 2);
}

static void sums_of_the_lightest_are_exact_beyond_a_signed_number(void **state) {
  (void)state;
  const uint64_t half = SUM_MAX / 2 + 1, most = SUM_MAX;
  struct store_row rows[] = {{1, 1, half},     {2, 1, half}, {3, 9, most}, {4, 1, half + 1},
                             {5, 1, half + 2}, {6, 1, 10},   {7, 0, 7}};
  assert_cut(rows, 7, 1,
             (const struct store_row[]){{99, 1, half},
                                        {3, 9, most},
                                        {99, 1, half},
                                        {99, 1, half + 1},
                                        {7, 0, 7},
                                        {99, 1, 10},
                                        {99, 1, half + 2}},
             7);
  struct store_row counts[] = {{1, half, half}, {2, half, half}, {3, 1, 1}};
  assert_cut(counts, 3, 0, (const struct store_row[]){{99, half, half}, {99, half + 1, half + 1}},
             2);
}

static void many_at_once_are_added_as_one_by_one(void **state) {
  (void)state;
  struct row_sums one = {0}, many = {0};
  struct store_row rows[200], *a, *b;
  size_t a_count, b_count;
  srand(5);
  for (unsigned round = 0; round < 20; round++) {
    for (unsigned i = 0; i < 200; i++) {
      uint64_t count = (uint64_t)rand() % 4, rate = rand() % 8 == 0 ? 10 : 1;
      rows[i] = (struct store_row){(uint32_t)rand() % 3000, count, count * PERIOD * rate};
      if (i % 50 == 0) rows[i].weight = UINT64_MAX / 3; /* too large to be taken as signed */
      add(&one, rows[i].node, rows[i].count, rows[i].weight);
    }
    assert_int_equal(row_sums_add_all(&many, rows, 200), 0);
  }
  assert_int_equal(row_sums_take(&one, &a, &a_count), 0);
  assert_int_equal(row_sums_take(&many, &b, &b_count), 0);
  assert_int_equal(a_count, b_count);
  for (size_t i = 0; i < a_count; i++) {
    assert_int_equal(a[i].node, b[i].node);
    assert_int_equal(a[i].count, b[i].count);
    assert_int_equal(a[i].weight, b[i].weight);
  }
  row_sums_fini(&one);
  row_sums_fini(&many);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_a_node_become_one_in_the_order_of_nodes),
      cmocka_unit_test(rows_whose_samples_weigh_unlike_stay_apart),
      cmocka_unit_test(no_row_is_more_than_a_signed_number_holds),
      cmocka_unit_test(the_lightest_become_one_and_the_sums_stay),
      cmocka_unit_test(sums_of_the_lightest_are_exact_beyond_a_signed_number),
      cmocka_unit_test(many_at_once_are_added_as_one_by_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
