/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by group: whatever is merged, nothing is lost, and the same boards meet. */
#include "common/arena.h"
#include "view/groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void add_board(struct groups *groups, unsigned board, uint32_t key, uint64_t weight) {
  char name[32];
  snprintf(name, sizeof name, "board-%u", board);
  groups_turn(groups, name, 0, 10000);
  assert_int_equal(groups_add(groups, key, weight), 0);
}

static uint64_t sum_of(const struct groups *groups, uint32_t key) {
  uint64_t weights[GROUPS_MAX], sum = 0;
  groups_weights(groups, key, weights);
  for (unsigned i = 0; i < groups->count; i++) sum += weights[i];
  return sum;
}

static uint64_t total_of(const struct groups *groups) {
  uint64_t weights[GROUPS_MAX], sum = 0;
  groups_totals(groups, weights);
  for (unsigned i = 0; i < groups->count; i++) sum += weights[i];
  return sum;
}

static void boards_are_the_groups_up_to_64(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  for (unsigned day = 0; day < 2; day++)
    for (unsigned board = 0; board < 64; board++) add_board(&groups, board, board % 3, board + 1);
  assert_int_equal(groups.kind, GROUPS_BOARDS);
  assert_int_equal(groups.count, 64);
  assert_int_equal(total_of(&groups), 64 * 65);
  groups_fini(&groups);
}

static void more_boards_fall_into_64_fixed_groups(void **state) {
  struct groups groups = {.count = 0}, backwards = {.count = 0};
  (void)state;
  for (unsigned board = 0; board < 500; board++) add_board(&groups, board, 7, board + 1);
  for (unsigned board = 500; board-- > 0;) add_board(&backwards, board, 7, board + 1);
  assert_int_equal(groups.kind, GROUPS_HASHED);
  assert_int_equal(groups.modulus, 64);
  assert_in_range(groups.count, 62, 64); /* 500 balls in 64 bins */
  assert_int_equal(groups.count, backwards.count);
  assert_int_equal(sum_of(&groups, 7), 500 * 501 / 2);
  for (unsigned i = 0; i < groups.count; i++) {
    unsigned same = 0;
    while (groups.group[i].id != backwards.group[same].id) same++;
    assert_int_equal(groups.group[i].weight, backwards.group[same].weight);
  }
  groups_fini(&groups);
  groups_fini(&backwards);
}

static void one_boards_groups_are_stretches_of_time(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  for (uint64_t window = 0; window < 1000; window++) {
    groups_turn(&groups, "b", 1000000 + window * 10000, 1010000 + window * 10000);
    assert_int_equal(groups_add(&groups, 3, 5), 0);
    assert_in_range(groups.count, 1, GROUPS_TIMES_MAX);
  }
  assert_int_equal(groups.kind, GROUPS_TIMES);
  assert_in_range(groups.count, GROUPS_TIMES_MAX / 2, GROUPS_TIMES_MAX);
  assert_int_equal(sum_of(&groups, 3), 5000);
  add_board(&groups, 2, 4, 77); /* a second board: the first one's are one group */
  assert_int_equal(groups.kind, GROUPS_BOARDS);
  assert_int_equal(groups.count, 2);
  assert_int_equal(sum_of(&groups, 3), 5000);
  assert_int_equal(sum_of(&groups, 4), 77);
  groups_fini(&groups);
}

static void memory_is_bounded_and_nothing_is_lost(void **state) {
  struct groups groups = {.count = 0};
  uint64_t sum = 0;
  (void)state;
  for (unsigned board = 0; board < 100; board++) {
    add_board(&groups, board, 1000000 - board, 3);
    add_board(&groups, board, board, 2);
    sum += 5;
    assert_true(groups.bytes <= GROUPS_BYTES_MAX);
  }
  assert_in_range(groups.count, GROUPS_KEPT_MIN, 32);
  assert_int_equal(total_of(&groups), sum);
  assert_int_equal(sum_of(&groups, 1000000 - 50), 3);
  groups_fini(&groups);
}

static void a_copy_has_each_weight_once(void **state) {
  struct groups groups = {.count = 0};
  struct view_groups copy;
  struct arena arena;
  uint64_t sum = 0;
  (void)state;
  arena_init(&arena, 1 << 20);
  for (unsigned board = 0; board < 5; board++)
    for (uint32_t key = board; key < 3000; key += 7) add_board(&groups, board, key, key + 1);
  assert_int_equal(groups_copy(&groups, &arena, &copy), 0);
  assert_int_equal(copy.count, 5);
  for (unsigned i = 0; i < copy.count; i++) {
    uint64_t own = 0;
    for (uint32_t j = 0; j < copy.group[i].cell_count; j++) {
      own += copy.group[i].weights[j];
      assert_int_equal(copy.group[i].weights[j], copy.group[i].keys[j] + 1);
    }
    assert_int_equal(own, copy.group[i].weight);
    sum += own;
  }
  assert_int_equal(sum, total_of(&groups));
  groups_fini(&groups);
  arena_fini(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boards_are_the_groups_up_to_64),
      cmocka_unit_test(more_boards_fall_into_64_fixed_groups),
      cmocka_unit_test(one_boards_groups_are_stretches_of_time),
      cmocka_unit_test(memory_is_bounded_and_nothing_is_lost),
      cmocka_unit_test(a_copy_has_each_weight_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
