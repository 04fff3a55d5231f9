/* SPDX-License-Identifier: Apache-2.0 */
/* Files with the same build-id: those of one build, and one with a false build-id. */
#include "../symbol/elf_fixture.h"

#include "names/debug_catalogue.h"
#include "names/debug_store.h"
#include "names/debug_store_parts.h"
#include "names/index_bytes.h"
#include "names/rival_file.h"
#include "names/symbolizer.h"

#include <errno.h>
#include <openssl/sha.h>

static struct debug_store *store;
static struct symbolizer *symbolizer;
static const uint8_t id_bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const struct span id = {id_bytes, sizeof id_bytes};
static char why[256];

static int make_files(void **state) {
  int error = fixture_set_up(state);
  fixture_run("for i in 1 2 3 4 5 6 7 8 9; do"
              "  echo \"int one_$i(int x) { return x + $i; } int c_$i(int x) { return x - $i; }\";"
              " done >one.c && sed 's/one_/two_/' one.c >two.c && for n in one two; do"
              "  cc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0x0102030405060708 -o $n.so $n.c;"
              " done && objcopy --only-keep-debug one.so one.debug && strip -o bare.so one.so &&"
              " strip --strip-debug -o symbols.so one.so && objcopy -g -K one_3 one.so few.so &&"
              " objcopy --compress-debug-sections one.so packed.so &&"
              " nm -n one.so | sed 's/one_/list_/' >list");
  return error;
}

static int set_up(void **state) {
  char error[256] = "", dir[128];
  (void)state;
  fixture_run("rm -rf data");
  snprintf(dir, sizeof dir, "%s/data", fixture_dir);
  if (debug_store_open(dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
  if (symbolizer_open(store, &symbolizer, error, sizeof error) != 0) fail_msg("%s", error);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  symbolizer_close(symbolizer);
  debug_store_close(store);
  return 0;
}

/* BOARD, or an operator if NULL, uploads the file NAME. Returns the result, with WHY. */
static int send_file(const char *board, const char *name) {
  uint8_t sha256[32];
  struct span bytes = fixture_read(name);
  SHA256(bytes.data, bytes.len, sha256);
  const struct debug_piece piece = {
      .board = board, .id = id, .total = bytes.len, .sha256 = span_of(sha256, 32), .bytes = bytes};
  why[0] = '\0';
  int result = debug_store_write(store, &piece, why, sizeof why);
  fixture_free(bytes);
  if (result != 1) return result;
  result = symbolizer_prepare(symbolizer, board, id);
  if (result != 0) debug_store_judge(store, board, id, why, sizeof why);
  return result;
}

static void files_of_one_build_agree_in_any_order(void **state) {
  static const char *const names[] = {"one.so", "one.debug", "bare.so", "symbols.so",
                                      "few.so", "packed.so", "list"};
  enum { NAMES = sizeof names / sizeof names[0] };
  for (size_t first = 0; first < NAMES; first++) {
    for (size_t i = 0; i < NAMES; i++) {
      const char *name = names[(first + i) % NAMES];
      if (send_file(NULL, name) != 0) fail_msg("%s behind %s: %s", name, names[first], why);
    }
    tear_down(state);
    set_up(state);
  }
}

static const char *name_of_first(const char *board) {
  struct symbol symbol;
  char command[256], line[64] = "";
  snprintf(command, sizeof command, "nm '%s/one.so' | grep one_1", fixture_dir);
  FILE *pipe = popen(command, "r");
  if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL) fail_msg("nm");
  pclose(pipe);
  uint64_t address = strtoull(line, NULL, 16);
  return symbolizer_find(symbolizer, board, id, address, &symbol) == 0 ? symbol.name : "";
}

static void the_first_of_two_that_contradict_each_other_stands(void **state) {
  (void)state;
  assert_int_equal(send_file(NULL, "symbols.so"), 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(send_file(NULL, "two.so"), -EBADMSG);
    assert_true(rival_file_is_why(why));
    assert_string_equal(name_of_first("board"), "one_1");
  }
  assert_int_equal(send_file(NULL, "one.so"), 0);
  assert_string_equal(name_of_first("board"), "one_1");
}

static void a_board_says_of_itself_what_it_likes(void **state) {
  (void)state;
  assert_int_equal(send_file(NULL, "symbols.so"), 0);
  assert_int_equal(send_file("one", "two.so"), 0);
  assert_true(symbolizer_settle(symbolizer, 20000)); /* better than the operator's file */
  assert_string_equal(name_of_first("one"), "two_1");
  assert_string_equal(name_of_first("two"), "one_1");
}

/* The bytes are known and read, as a board's own; that makes them no better when an operator sends
   them, too. */
static void what_boards_have_sent_is_compared_when_an_operator_sends_the_same(void **state) {
  (void)state;
  assert_int_equal(send_file("one", "two.so"), 0);
  assert_int_equal(send_file(NULL, "symbols.so"), 0);
  assert_true(symbolizer_settle(symbolizer, 20000));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(send_file(NULL, "two.so"), -EBADMSG);
    assert_true(rival_file_is_why(why));
    assert_string_equal(name_of_first("two"), "one_1");
    assert_string_equal(name_of_first("one"), "two_1"); /* its own samples had that name before */
  }
  assert_int_equal(send_file("two", "one.so"), 0);
  assert_int_equal(send_file(NULL, "one.so"), 0); /* this file agrees */
}

static void indexes_count_as_their_files_do(void **state) {
  (void)state;
  struct debug_file file;
  struct stat index, whole;
  assert_int_equal(send_file("one", "one.so"), 0);
  assert_true(symbolizer_settle(symbolizer, 20000));
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  assert_int_equal(file.quality, DEBUG_DWARF);
  assert_int_equal(stat(file.index_path, &index), 0);
  assert_int_equal(stat(file.dwarf_path, &whole), 0);
  uint64_t bytes = file.bytes + (uint64_t)index.st_size + (uint64_t)whole.st_size;
  sqlite3 *db = debug_store_lock(store);
  assert_int_equal(catalogue_bytes(db), bytes);
  assert_int_equal(catalogue_bytes_of(db, "one"), bytes);
  assert_int_equal(catalogue_bytes_of(db, "two"), 0);
  assert_int_equal(catalogue_remove_file(db, span_of(file.sha256, 32)), 0);
  assert_int_equal(catalogue_bytes(db), 0);
  debug_store_unlock(store);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(files_of_one_build_agree_in_any_order),
      FRESH(the_first_of_two_that_contradict_each_other_stands),
      FRESH(a_board_says_of_itself_what_it_likes),
      FRESH(what_boards_have_sent_is_compared_when_an_operator_sends_the_same),
      FRESH(indexes_count_as_their_files_do),
  };
  return cmocka_run_group_tests(tests, make_files, fixture_tear_down);
}
