/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads of debug files into the store: pieces, pauses, false content, and space limits. */
#include "debug_store_fixture.h"
#include "names/debug_sent.h"

static void a_file_sent_in_pieces_is_kept_as_it_was(void **state) {
  (void)state;
  struct sample_file file = sample(1);
  struct debug_file found;
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(offset, 0);
  assert_int_equal(write_part("one", id_a, &file, 0, 300), 0);
  assert_int_equal(write_part("one", id_a, &file, 300, 999), 0);
  assert_int_equal(write_part("one", id_a, &file, 999, 1000), 1);
  assert_int_equal(debug_store_find(store, "one", id_a, &found), 0);
  assert_int_equal(found.quality, DEBUG_NONE);
  assert_int_equal(found.bytes, 1000);
  assert_memory_equal(found.sha256, file.sha256, 32);
  struct span kept = fixture_read(found.path);
  assert_int_equal(kept.len, 1000);
  assert_memory_equal(kept.data, file.bytes, 1000);
  fixture_free(kept);
  assert_int_equal(count_files("debug/partial"), 0);
}

static void an_upload_goes_on_after_a_restart_where_it_stopped(void **state) {
  (void)state;
  struct sample_file file = sample(2);
  uint64_t offset;
  assert_int_equal(write_part("one", id_a, &file, 0, 400), 0);
  assert_false(is_wanted("one", id_a, &offset)); /* pieces are coming */
  reopen();
  assert_int_equal(write_part("one", id_a, &file, 400, 1000), 1);
}

static void an_upload_given_up_is_asked_for_again_with_its_offset(void **state) {
  (void)state;
  struct sample_file file = sample(3);
  uint64_t offset;
  assert_int_equal(write_part("one", id_a, &file, 0, 400), 0);
  pass(11.0 / 86400); /* eleven seconds: longer than pieces may pause */
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(offset, 400);
}

static void a_piece_may_be_repeated_but_not_left_out(void **state) {
  (void)state;
  struct sample_file file = sample(4);
  assert_int_equal(write_part("one", id_a, &file, 0, 400), 0);
  assert_int_equal(write_part("one", id_a, &file, 500, 600), -EBADMSG);
  assert_non_null(strstr(why, "only 400 bytes"));
  assert_int_equal(write_part("one", id_a, &file, 200, 400), 0);
  assert_int_equal(write_part("one", id_a, &file, 400, 1000), 1);
}

static void another_file_in_the_middle_starts_again(void **state) {
  (void)state;
  struct sample_file old = sample(5), fresh = sample(6);
  uint64_t offset;
  assert_int_equal(write_part("one", id_a, &old, 0, 400), 0);
  assert_int_equal(write_part("one", id_a, &fresh, 400, 600), -EBADMSG);
  assert_non_null(strstr(why, "start again"));
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(offset, 0);
  assert_int_equal(write_part("one", id_a, &old, 0, 400), 0);
  assert_int_equal(write_part("one", id_a, &fresh, 0, 400), 0);
  assert_int_equal(write_part("one", id_a, &fresh, 400, 1000), 1);
}

static void a_wrong_hash_is_refused_and_not_asked_for_at_once(void **state) {
  (void)state;
  struct sample_file file = sample(7);
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  file.sha256[0] ^= 1;
  assert_int_equal(write_whole("one", id_a, &file), -EBADMSG);
  assert_non_null(strstr(why, "hash"));
  assert_false(is_wanted("one", id_a, &offset));
  assert_int_equal(count_files("debug"), 0);
  assert_int_equal(count_files("debug/partial"), 0);
}

static void pieces_that_cannot_be_right_are_refused(void **state) {
  (void)state;
  struct sample_file file = sample(8);
  struct debug_piece good = {.board = "one",
                             .id = id_a,
                             .total = 1000,
                             .sha256 = span_of(file.sha256, 32),
                             .bytes = span_of(file.bytes, 100)};
  struct debug_piece piece;
#define EXPECT(change, error)                                                 \
  piece = good;                                                               \
  piece.change;                                                               \
  why[0] = '\0';                                                              \
  assert_int_equal(debug_store_write(store, &piece, why, sizeof why), error); \
  assert_true(why[0] != '\0');
  EXPECT(total = 0, -EBADMSG);
  EXPECT(total = 99, -EBADMSG);
  EXPECT(total = LIMIT_DEBUG_FILE_BYTES + 1, -EOVERFLOW);
  EXPECT(offset = UINT64_MAX, -EBADMSG);
  EXPECT(offset = 901, -EBADMSG);
  EXPECT(bytes.len = 0, -EBADMSG);
  EXPECT(bytes.data++, -EBADMSG); /* no ELF file */
  EXPECT(id.len = 0, -EBADMSG);
  EXPECT(id.len = LIMIT_MODULE_ID_BYTES + 1, -EBADMSG);
  EXPECT(sha256.len = 31, -EBADMSG);
  EXPECT(sha256.len = 0, -EBADMSG); /* only an operator may leave it out */
  assert_int_equal(count_files("debug/partial"), 0);
}

static void an_operator_need_not_tell_the_hash(void **state) {
  (void)state;
  struct sample_file file = sample(9);
  const struct debug_piece piece = {.id = id_a, .total = 1000, .bytes = span_of(file.bytes, 1000)};
  assert_int_equal(debug_store_write(store, &piece, why, sizeof why), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_true(is_visible("any", id_a));
}

/* Announces a file of a GiB, sending only its head. */
static int announce(const char *board, uint8_t number) {
  static struct sample_file file;
  uint8_t id[20] = {number};
  file = sample(number);
  const struct debug_piece piece = {.board = board,
                                    .id = span_of(id, sizeof id),
                                    .total = LIMIT_DEBUG_FILE_BYTES,
                                    .sha256 = span_of(file.sha256, 32),
                                    .bytes = span_of(file.bytes, 1000)};
  return debug_store_write(store, &piece, why, sizeof why);
}

static void one_board_cannot_fill_the_store(void **state) {
  (void)state;
  assert_int_equal(announce("one", 1), 0);
  assert_int_equal(announce("one", 2), 0);
  assert_int_equal(announce("one", 3), -EOVERFLOW);
  assert_non_null(strstr(why, "this board"));
  assert_int_equal(announce("two", 3), 0);
}

static void a_full_store_gives_up_what_nobody_uses_and_nothing_else(void **state) {
  (void)state;
  struct sample_file file = sample(50);
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  static const char *boards[] = {"a", "b", "c", "d"};
  for (uint8_t i = 0; i < 7; i++) assert_int_equal(announce(boards[i / 2], i), 0);
  assert_int_equal(announce("d", 7), -EOVERFLOW);
  assert_non_null(strstr(why, "full"));
  pass(31);
  assert_int_equal(announce("d", 7), 0);
  assert_false(is_visible("one", id_a));
  assert_int_equal(count_files("debug"), 0);
}

static void uploads_that_nobody_goes_on_with_are_swept(void **state) {
  (void)state;
  assert_int_equal(announce("one", 1), 0);
  pass(8);
  reopen();
  assert_int_equal(count_files("debug/partial"), 0);
}

/* How much of FILE operators have sent for module ID. */
static uint64_t sent_of(struct span id, const struct sample_file *file) {
  struct debug_sent sent;
  debug_sent_find(store, id, span_of(file->sha256, 32), &sent);
  assert_int_equal(sent.is_whole, sent.bytes == 1000);
  return sent.bytes;
}

static void operators_who_send_the_same_file_do_not_set_each_other_back(void **state) {
  (void)state;
  struct sample_file file = sample(21);
  assert_int_equal(write_part(NULL, id_a, &file, 0, 400), 0);
  assert_int_equal(write_part(NULL, id_a, &file, 0, 100), 0); /* the second begins */
  assert_int_equal(sent_of(id_a, &file), 400);
  assert_int_equal(write_part(NULL, id_a, &file, 400, 1000), 1);
  assert_int_equal(write_part(NULL, id_a, &file, 100, 200),
                   -ESPIPE); /* must first query the offset */
  assert_int_equal(sent_of(id_a, &file), 1000);
  assert_int_equal(sent_of(id_b, &file), 0);
}

static void operators_send_different_files_of_a_module_at_once(void **state) {
  (void)state;
  struct sample_file code = sample(22), debug = sample(23);
  assert_int_equal(write_part(NULL, id_a, &code, 0, 400), 0);
  assert_int_equal(write_part(NULL, id_a, &debug, 0, 500), 0);
  assert_int_equal(write_part(NULL, id_a, &code, 400, 1000), 1);
  assert_int_equal(write_part(NULL, id_a, &debug, 500, 1000), 1);
}

static void a_board_has_few_uploads_at_once(void **state) {
  (void)state;
  struct sample_file file = sample(20);
  for (uint8_t i = 0; i < 20; i++) {
    uint8_t id[20] = {i};
    assert_int_equal(write_part("one", span_of(id, sizeof id), &file, 0, 100), 0);
  }
  assert_int_equal(count_files("debug/partial"), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(a_file_sent_in_pieces_is_kept_as_it_was),
      FRESH(an_upload_goes_on_after_a_restart_where_it_stopped),
      FRESH(an_upload_given_up_is_asked_for_again_with_its_offset),
      FRESH(a_piece_may_be_repeated_but_not_left_out),
      FRESH(another_file_in_the_middle_starts_again),
      FRESH(a_wrong_hash_is_refused_and_not_asked_for_at_once),
      FRESH(pieces_that_cannot_be_right_are_refused),
      FRESH(an_operator_need_not_tell_the_hash),
      FRESH(one_board_cannot_fill_the_store),
      FRESH(a_full_store_gives_up_what_nobody_uses_and_nothing_else),
      FRESH(uploads_that_nobody_goes_on_with_are_swept),
      FRESH(operators_who_send_the_same_file_do_not_set_each_other_back),
      FRESH(operators_send_different_files_of_a_module_at_once),
      FRESH(a_board_has_few_uploads_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
