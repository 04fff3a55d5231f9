/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by group: no weight is lost by merging, and the same boards are merged. */
#include "common/arena.h"
#include "view/groups.h"

#include <errno.h>
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

static uint64_t sum_of_key(const struct groups *groups, uint32_t key) {
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

static void more_boards_fall_into_32_fixed_groups(void **state) {
  struct groups groups = {.count = 0}, backwards = {.count = 0};
  (void)state;
  for (unsigned board = 0; board < 500; board++) add_board(&groups, board, 7, board + 1);
  for (unsigned board = 500; board-- > 0;) add_board(&backwards, board, 7, board + 1);
  assert_int_equal(groups.kind, GROUPS_HASHED);
  assert_int_equal(groups.modulus, 32);
  assert_int_equal(groups.count, 32); /* 500 balls in 32 bins */
  assert_int_equal(groups.count, backwards.count);
  assert_int_equal(sum_of_key(&groups, 7), 500 * 501 / 2);
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
  assert_int_equal(sum_of_key(&groups, 3), 5000);
  add_board(&groups, 2, 4, 77); /* a second board: the first board's keys are one group */
  assert_int_equal(groups.kind, GROUPS_BOARDS);
  assert_int_equal(groups.count, 2);
  assert_int_equal(sum_of_key(&groups, 3), 5000);
  assert_int_equal(sum_of_key(&groups, 4), 77);
  groups_fini(&groups);
}

static unsigned count_chunks(const struct groups *groups) {
  unsigned chunks = 0;
  for (unsigned i = 0; i < groups->count; i++)
    for (uint32_t j = 0; j < groups->group[i].room; j++)
      chunks += groups->group[i].chunks[j] != NULL;
  return chunks;
}

/* With a million keys each, 64 boards would take eight times the limit. */
static void memory_is_bounded_and_nothing_is_lost(void **state) {
  struct groups groups = {.count = 0};
  uint64_t sum = 0;
  (void)state;
  for (unsigned board = 0; board < 100; board++)
    for (uint32_t key = board; key < 1000000; key += GROUPS_CHUNK_KEYS) {
      add_board(&groups, board, key, 3);
      sum += 3;
    }
  assert_in_range(groups.count, GROUPS_KEPT_MIN, 16);
  assert_true(count_chunks(&groups) <= GROUPS_CHUNKS_MAX);
  assert_true(groups.chunk_count <= GROUPS_CHUNKS_MAX);
  assert_int_equal(total_of(&groups), sum);
  assert_int_equal(sum_of_key(&groups, 50), 3);
  groups_fini(&groups);
}

static void the_fewest_groups_have_room_for_all_keys(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  for (unsigned board = 0; board < 100; board++)
    for (uint32_t key = 0; key < GROUPS_KEYS_MAX; key += GROUPS_CHUNK_KEYS)
      add_board(&groups, board, key, 1);
  assert_int_equal(groups.count, GROUPS_KEPT_MIN); /* just enough for all keys there can be */
  assert_int_equal(groups.kind, GROUPS_HASHED);
  groups_turn(&groups, "x", 0, 1);
  assert_int_equal(groups_add(&groups, GROUPS_KEYS_MAX, 1), -EOVERFLOW);
  groups_fini(&groups);
}

/* In an arena, which has all of it. */
static void an_arena_holds_groups_as_well(void **state) {
  struct arena arena;
  (void)state;
  arena_init(&arena, 64 << 20);
  struct groups groups = {.arena = &arena};
  for (unsigned board = 0; board < 200; board++)
    for (uint32_t key = board; key < 30000; key += 777) add_board(&groups, board, key, key);
  struct groups copy = groups;
  uint64_t total = total_of(&groups);
  groups_fini(&groups);
  assert_int_equal(total_of(&copy), total);
  assert_int_equal(copy.kind, GROUPS_HASHED);
  arena_fini(&arena);
}

/* A group's boards are already added up: the result is the same as after merging here. */
static void boards_that_are_merged_already_meet_the_others(void **state) {
  (void)state;
  for (unsigned merged_first = 0; merged_first < 3; merged_first++) {
    struct groups groups = {.count = 0};
    for (unsigned i = 0; i < 3; i++) {
      if (i == merged_first)
        for (unsigned group = 0; group < 64; group += 2) {
          groups_turn_merged(&groups, group, 0, 10000);
          assert_int_equal(groups_add(&groups, 1, 10), 0);
        }
      else if (i == 0 || merged_first == 0)
        for (unsigned board = 0; board < 5; board++) add_board(&groups, board, 2, 1);
    }
    assert_int_equal(groups.kind, GROUPS_HASHED);
    assert_int_equal(sum_of_key(&groups, 1), 320);
    assert_true(sum_of_key(&groups, 2) % 5 == 0);
    for (unsigned i = 0; i < groups.count; i++) {
      assert_true(groups.group[i].id < 64);
      for (unsigned j = 0; j < i; j++) assert_true(groups.group[i].id != groups.group[j].id);
    }
    groups_fini(&groups);
  }
}

static void one_boards_time_becomes_a_group_beside_merged_ones(void **state) {
  (void)state;
  struct groups groups = {.count = 0};
  for (uint64_t window = 0; window < 40; window++) {
    groups_turn(&groups, "b", window * 10000, (window + 1) * 10000);
    assert_int_equal(groups_add(&groups, 0, 1), 0);
  }
  groups_turn_merged(&groups, 63, 0, 10000);
  assert_int_equal(groups_add(&groups, 0, 2), 0);
  assert_int_equal(groups.kind, GROUPS_HASHED);
  assert_in_range(groups.count, 1, 2);
  assert_int_equal(total_of(&groups), 42);
  groups_fini(&groups);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boards_are_the_groups_up_to_64),
      cmocka_unit_test(boards_that_are_merged_already_meet_the_others),
      cmocka_unit_test(one_boards_time_becomes_a_group_beside_merged_ones),
      cmocka_unit_test(more_boards_fall_into_32_fixed_groups),
      cmocka_unit_test(one_boards_groups_are_stretches_of_time),
      cmocka_unit_test(memory_is_bounded_and_nothing_is_lost),
      cmocka_unit_test(the_fewest_groups_have_room_for_all_keys),
      cmocka_unit_test(an_arena_holds_groups_as_well),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
