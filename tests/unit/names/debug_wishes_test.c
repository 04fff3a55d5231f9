/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to boards are answered from a cache, and no entry outlives its basis. */
#include "debug_store_fixture.h"
#include "common/arena.h"
#include "names/ask_turns.h"

#include <sqlite3.h>

static uint64_t offset;

/* The number of modules marked as used in the database. */
static int64_t modules_in_use(const char *and_then) {
  char path[160];
  sqlite3 *db;
  sqlite3_stmt *row;
  snprintf(path, sizeof path, "%s/data/debug.db", fixture_dir);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM module", -1, &row, NULL), 0);
  assert_int_equal(sqlite3_step(row), SQLITE_ROW);
  int64_t count = sqlite3_column_int64(row, 0);
  sqlite3_finalize(row);
  assert_int_equal(sqlite3_exec(db, and_then, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  return count;
}

/* A query to the database also marks the module as used. */
static void what_was_answered_is_answered_again_without_the_database(void **state) {
  (void)state;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(modules_in_use("DELETE FROM module"), 1);
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(modules_in_use(""), 0);
  assert_true(is_wanted("two", id_a, &offset));
  assert_int_equal(modules_in_use(""), 1);
}

static void a_file_that_becomes_everybodys_is_wanted_of_nobody(void **state) {
  struct sample_file file = sample(1);
  (void)state;
  assert_true(is_wanted("three", id_a, &offset));
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_true(is_wanted("three", id_a, &offset));
  assert_int_equal(write_whole("two", id_a, &file), 1);
  assert_false(is_wanted("three", id_a, &offset));
}

static void an_operators_file_is_wanted_of_nobody(void **state) {
  struct sample_file file = sample(2);
  (void)state;
  assert_true(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("one", id_b, &offset));
  assert_int_equal(write_whole(NULL, id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_false(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("one", id_b, &offset));
}

static void a_file_that_turns_out_to_be_bad_is_wanted_of_others(void **state) {
  struct sample_file file = sample(3);
  (void)state;
  assert_int_equal(write_whole(NULL, id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_false(is_wanted("one", id_a, &offset));
  assert_int_equal(debug_store_set_quality(store, file.sha256, DEBUG_BAD, "it loops"), 0);
  assert_true(is_wanted("one", id_a, &offset));
}

static void a_first_piece_ends_the_wish_and_a_pause_gives_it_back(void **state) {
  struct sample_file file = sample(4);
  (void)state;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_part("one", id_a, &file, 0, 400), 0);
  assert_false(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("two", id_a, &offset)); /* sends its own */
  pass(11.0 / 86400);
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(offset, 400);
  assert_int_equal(write_part("one", id_a, &file, 400, 1000), 1);
  assert_false(is_wanted("one", id_a, &offset));
}

/* A fifth upload of a board takes the place of its oldest, which is wanted from its beginning. */
static void an_upload_that_is_forgotten_is_wanted_whole(void **state) {
  struct sample_file file = sample(5);
  (void)state;
  for (uint8_t i = 0; i < 5; i++) {
    uint8_t id[20] = {i};
    assert_int_equal(write_part("one", span_of(id, 20), &file, 0, 400), 0);
    pass(11.0 / 86400);
    assert_true(is_wanted("one", span_of(id, 20), &offset));
    assert_int_equal(offset, 400);
  }
  assert_true(is_wanted("one", span_of((uint8_t[20]){0}, 20), &offset));
  assert_int_equal(offset, 0);
}

/* The modules requested again of BOARD, and the path of the first. */
static uint32_t asked_again(const char *board, bool is_new, char path[64]) {
  struct debug_wish wishes[DEBUG_WISHES_MAX];
  struct arena arena;
  arena_init(&arena, 4096);
  uint32_t count = debug_wishes_ask_again(store, board, is_new, &arena, wishes);
  snprintf(path, 64, "%s", count > 0 ? wishes[0].path : "");
  arena_fini(&arena);
  return count;
}

static void a_board_that_connects_again_is_asked_for_what_has_no_names(void **state) {
  struct sample_file file = sample(7);
  char path[64];
  (void)state;
  assert_int_equal(asked_again("one", true, path), 0);
  assert_true(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("one", id_b, &offset));
  reopen();
  assert_int_equal(asked_again("one", true, path), 2);
  assert_string_equal(path, "/bin/x");
  assert_int_equal(asked_again("two", true, path), 0);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_int_equal(asked_again("one", true, path), 1);
}

static void a_board_that_stays_connected_is_looked_at_now_and_then(void **state) {
  char path[64];
  (void)state;
  assert_int_equal(asked_again("one", false, path), 0);
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(asked_again("one", false, path), 0);
  assert_int_equal(asked_again("one", true, path), 1);
  reopen();
  assert_int_equal(asked_again("one", false, path), 1);
}

static void one_look_asks_for_a_bounded_number_the_newest_first(void **state) {
  char path[64], name[32];
  (void)state;
  for (uint8_t i = 0; i < 100; i++) {
    uint8_t id[20] = {i};
    snprintf(name, sizeof name, "/bin/%u", i);
    struct debug_wish wish = {.id = span_of(id, 20), .path = name};
    debug_wishes_ask(store, "one", false, &wish, 1);
    pass(1.0 / 86400);
  }
  assert_int_equal(asked_again("one", true, path), DEBUG_WISHES_MAX);
  assert_string_equal(path, "/bin/99");
}

static void a_board_without_the_file_is_asked_after_pauses_that_grow_to_an_hour(void **state) {
  static const int pauses_s[] = {15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600};
  char path[64];
  (void)state;
  assert_true(is_wanted("one", id_a, &offset));
  for (size_t i = 0; i < sizeof pauses_s / sizeof *pauses_s; i++) {
    debug_store_unavailable(store, "one", id_a, "no such file");
    pass((pauses_s[i] - 3) / 86400.0);
    assert_int_equal(asked_again("one", true, path), 0);
    pass(5 / 86400.0);
    assert_int_equal(asked_again("one", true, path), 1);
  }
}

static void asking_again_is_no_use_of_a_module(void **state) {
  char path[64];
  (void)state;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(modules_in_use("UPDATE module SET wanted_s = 7"), 1);
  assert_int_equal(asked_again("one", true, path), 1);
  assert_int_equal(modules_in_use("DELETE FROM module WHERE wanted_s = 7"), 1);
  assert_int_equal(modules_in_use(""), 0);
}

static void nonsense_ends_the_wish(void **state) {
  struct sample_file file = sample(6);
  (void)state;
  assert_true(is_wanted("one", id_a, &offset));
  file.sha256[0] ^= 1;
  assert_int_equal(write_whole("one", id_a, &file), -EBADMSG);
  assert_false(is_wanted("one", id_a, &offset));
}

static void a_board_that_cannot_send_is_asked_for_names_and_code_no_more(void **state) {
  struct debug_wish wish = {.id = id_a, .path = "/bin/x"};
  (void)state;
  debug_wishes_ask(store, "one", true, &wish, 1);
  assert_true(wish.is_wanted);
  assert_true(is_wanted("one", id_a, &offset));
  debug_store_unavailable(store, "one", id_a, "no such file");
  debug_wishes_ask(store, "one", true, &wish, 1);
  assert_false(wish.is_wanted);
  assert_false(is_wanted("one", id_a, &offset));
}

static void many_are_answered_at_once_each_for_itself(void **state) {
  struct debug_wish wishes[DEBUG_WISHES_MAX];
  uint8_t ids[DEBUG_WISHES_MAX][20] = {0};
  (void)state;
  for (uint8_t i = 0; i < DEBUG_WISHES_MAX; i++) {
    ids[i][0] = (uint8_t)(1 + i);
    wishes[i] = (struct debug_wish){.id = span_of(ids[i], i == 7 ? 0 : 20), .path = "/bin/x"};
  }
  for (int round = 0; round < 3; round++) {
    debug_wishes_ask(store, "one", false, wishes, DEBUG_WISHES_MAX);
    for (int i = 0; i < DEBUG_WISHES_MAX; i++)
      assert_true(wishes[i].is_wanted == (i != 7 && (round == 0 || i % 3 != 0)));
    for (int i = 0; i < DEBUG_WISHES_MAX; i += 3)
      debug_store_unavailable(store, "one", wishes[i].id, "gone");
  }
  assert_int_equal(modules_in_use(""), DEBUG_WISHES_MAX - 1);
}

static void of_a_fleet_only_some_are_asked_at_once(void **state) {
  enum { BOARDS = 1000 };
  struct sample_file file = sample(7);
  unsigned asked = 0, again = 0;
  char board[16];
  (void)state;
  for (unsigned i = 0; i < BOARDS; i++) {
    snprintf(board, sizeof board, "edge-%u", i);
    asked += is_wanted(board, id_a, &offset);
  }
  /* The minute may end in between. */
  assert_in_range(asked, ASK_TURNS_A_MINUTE, 3 * ASK_TURNS_A_MINUTE);
  for (unsigned i = 0; i < BOARDS; i++) {
    snprintf(board, sizeof board, "edge-%u", i);
    again += is_wanted(board, id_a, &offset);
  }
  assert_int_equal(again, asked); /* the same modules */
  assert_true(is_wanted("edge-999", id_b, &offset));
  assert_int_equal(write_whole(NULL, id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_false(is_wanted("edge-0", id_a, &offset));
  assert_false(is_wanted("edge-999", id_a, &offset));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(what_was_answered_is_answered_again_without_the_database),
      FRESH(a_file_that_becomes_everybodys_is_wanted_of_nobody),
      FRESH(an_operators_file_is_wanted_of_nobody),
      FRESH(a_file_that_turns_out_to_be_bad_is_wanted_of_others),
      FRESH(a_first_piece_ends_the_wish_and_a_pause_gives_it_back),
      FRESH(an_upload_that_is_forgotten_is_wanted_whole),
      FRESH(a_board_that_connects_again_is_asked_for_what_has_no_names),
      FRESH(a_board_that_stays_connected_is_looked_at_now_and_then),
      FRESH(one_look_asks_for_a_bounded_number_the_newest_first),
      FRESH(a_board_without_the_file_is_asked_after_pauses_that_grow_to_an_hour),
      FRESH(asking_again_is_no_use_of_a_module),
      FRESH(nonsense_ends_the_wish),
      FRESH(a_board_that_cannot_send_is_asked_for_names_and_code_no_more),
      FRESH(many_are_answered_at_once_each_for_itself),
      FRESH(of_a_fleet_only_some_are_asked_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
