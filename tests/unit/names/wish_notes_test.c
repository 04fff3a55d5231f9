/* SPDX-License-Identifier: Apache-2.0 */
/* Cached answers: they are found again, expire in time, and never exceed the limit. */
#include "names/wish_notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct wish_notes *notes;

static int set_up(void **state) {
  (void)state;
  notes = wish_notes_new();
  return notes != NULL ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  wish_notes_free(notes);
  return 0;
}

static void add(const char *board, uint64_t module, uint64_t until_ns, uint64_t now_ns) {
  const struct wish_note note = {.until_ns = until_ns, .generation = module, .is_wanted = true};
  wish_notes_add(notes, board, span_of(&module, sizeof module), &note, now_ns);
}

static const struct wish_note *find(const char *board, uint64_t module) {
  return wish_notes_find(notes, board, span_of(&module, sizeof module));
}

static void a_note_is_of_one_board_and_one_module(void **state) {
  (void)state;
  add("one", 1, 100, 0);
  assert_non_null(find("one", 1));
  assert_int_equal(find("one", 1)->until_ns, 100);
  assert_true(find("one", 1)->is_wanted);
  assert_null(find("two", 1));
  assert_null(find("one", 2));
  wish_notes_remove(notes, "one", span_of(&(uint64_t){1}, 8));
  assert_null(find("one", 1));
  wish_notes_remove(notes, "one", span_of(&(uint64_t){1}, 8)); /* nothing to remove */
}

static void a_newer_note_replaces_the_older(void **state) {
  (void)state;
  add("one", 1, 100, 0);
  add("one", 1, 200, 0);
  assert_int_equal(find("one", 1)->until_ns, 200);
  wish_notes_remove(notes, "one", span_of(&(uint64_t){1}, 8));
  assert_null(find("one", 1));
}

/* Ten thousand boards of two dozen modules each: as many as a collector serves. */
static void a_large_fleets_notes_are_all_kept(void **state) {
  enum { BOARDS = 10000, MODULES = 24 };
  char board[16];
  uint64_t found = 0;
  (void)state;
  for (unsigned i = 0; i < BOARDS; i++) {
    snprintf(board, sizeof board, "edge-%05u", i);
    for (uint64_t module = 0; module < MODULES; module++) add(board, module, 100, 0);
  }
  for (unsigned i = 0; i < BOARDS; i++) {
    snprintf(board, sizeof board, "edge-%05u", i);
    for (uint64_t module = 0; module < MODULES; module++) {
      const struct wish_note *note = find(board, module);
      if (note == NULL) continue;
      assert_true(note->generation == module);
      found++;
    }
  }
  assert_in_range(found, BOARDS * MODULES * 49 / 50, BOARDS * MODULES);
}

static void over_the_limit_those_go_that_would_be_over_first(void **state) {
  enum { LATER = 1000000 };
  uint64_t found = 0, count = 3 * (uint64_t)WISH_NOTES_MAX;
  (void)state;
  for (uint64_t module = 0; module < count; module++) {
    add("one", module, LATER + module, 0);
    assert_non_null(find("one", module));
  }
  for (uint64_t module = 0; module < count; module++) found += find("one", module) != NULL;
  assert_in_range(found, WISH_NOTES_MAX / 2, WISH_NOTES_MAX);
  for (uint64_t module = count - 100; module < count; module++)
    assert_non_null(find("one", module));
}

static void notes_that_are_over_leave_their_room_to_others(void **state) {
  uint64_t found = 0;
  (void)state;
  add("steady", 7, UINT64_MAX, 0);
  for (uint64_t hour = 1; hour <= 100; hour++)
    for (uint64_t module = 0; module < 10000; module++)
      add("one", hour * 10000 + module, hour + 1, hour); /* a minute's programs, never again */
  for (uint64_t module = 0; module < 1010000; module++) found += find("one", module) != NULL;
  assert_in_range(found, 10000, 100000);
  assert_non_null(find("steady", 7));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_note_is_of_one_board_and_one_module),
      TEST(a_newer_note_replaces_the_older),
      TEST(a_large_fleets_notes_are_all_kept),
      TEST(over_the_limit_those_go_that_would_be_over_first),
      TEST(notes_that_are_over_leave_their_room_to_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
