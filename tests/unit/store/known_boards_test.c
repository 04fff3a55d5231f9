/* SPDX-License-Identifier: Apache-2.0 */
/* Two boards in one slot of the cache, and too long texts: a lookup hits or misses, and is never
   wrong. */
#include "store/known_boards.h"

#include "common/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct known_board board_of(const char *name, uint64_t id) {
  struct known_board board = {.id = id};
  for (int i = 0; i < KNOWN_BOARD_TEXTS; i++) board.texts[i] = "";
  board.texts[KNOWN_NAME] = name;
  return board;
}

static uint64_t place_of(const char *name) {
  return table_hash(name, strlen(name), 0) % KNOWN_BOARDS_MAX;
}

static void who_comes_later_has_the_place(void **state) {
  struct known_boards known = {NULL};
  char other[32];
  unsigned i = 0;
  (void)state;
  do snprintf(other, sizeof other, "b%u", ++i);
  while (place_of(other) != place_of("b0"));
  struct known_board first = board_of("b0", 1), second = board_of(other, 2);
  assert_null(known_boards_find(&known, "b0"));
  known_boards_keep(&known, &first);
  assert_int_equal(known_boards_find(&known, "b0")->id, 1);
  assert_null(known_boards_find(&known, other));
  known_boards_keep(&known, &second);
  assert_int_equal(known_boards_find(&known, other)->id, 2);
  assert_null(known_boards_find(&known, "b0"));
  known_boards_forget(&known);
  assert_null(known_boards_find(&known, other));
  known_boards_fini(&known);
}

static void what_stands_there_can_be_kept_again(void **state) {
  struct known_boards known = {NULL};
  struct known_board board = board_of("b0", 1);
  (void)state;
  known_boards_keep(&known, &board);
  struct known_board *there = known_boards_find(&known, "b0");
  there->last_seen_ms = 7;
  known_boards_keep(&known, there);
  assert_int_equal(known_boards_find(&known, "b0")->last_seen_ms, 7);
  known_boards_fini(&known);
}

static void long_texts_are_not_kept(void **state) {
  struct known_boards known = {NULL};
  struct known_board board = board_of("b0", 1);
  char labels[KNOWN_BOARD_BYTES_MAX];
  (void)state;
  memset(labels, 'x', sizeof labels);
  labels[sizeof labels - 1] = '\0';
  known_boards_keep(&known, &board);
  board.texts[KNOWN_LABELS] = labels;
  known_boards_keep(&known, &board);
  assert_null(known_boards_find(&known, "b0")); /* nor the previous one */
  known_boards_fini(&known);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_comes_later_has_the_place),
      cmocka_unit_test(what_stands_there_can_be_kept_again),
      cmocka_unit_test(long_texts_are_not_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
