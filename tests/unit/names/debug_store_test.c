/* SPDX-License-Identifier: Apache-2.0 */
#include "../symbol/fixture.h"

#include "common/clock.h"
#include "names/debug_store.h"
#include "proto/limits.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/sha.h>
#include <pthread.h>

static uint64_t days_ahead_ns; /* the wall clock of these tests can be put forward */

uint64_t __real_clock_walltime_ns(void);
uint64_t __wrap_clock_walltime_ns(void);

uint64_t __wrap_clock_walltime_ns(void) {
  return __real_clock_walltime_ns() + days_ahead_ns;
}

static void pass(double days) {
  days_ahead_ns += (uint64_t)(days * 24 * 3600 * NS_PER_SECOND);
}

static struct debug_store *store;
static char why[256];

/* Bytes that begin like an ELF file; this store does not look further. */
struct sample_file {
  uint8_t bytes[1000], sha256[32];
};

static struct sample_file sample(uint8_t seed) {
  struct sample_file file;
  for (size_t i = 0; i < sizeof file.bytes; i++) file.bytes[i] = (uint8_t)(i * 7 + seed);
  memcpy(file.bytes,
         "\x7f"
         "ELF",
         4);
  SHA256(file.bytes, sizeof file.bytes, file.sha256);
  return file;
}

static const struct span id_a = {(const uint8_t *)"aaaaaaaaaaaaaaaaaaaa", 20};
static const struct span id_b = {(const uint8_t *)"bbbbbbbbbbbbbbbbbbbb", 20};

static void reopen(void) {
  char error[256] = "", dir[128];
  debug_store_close(store);
  store = NULL;
  snprintf(dir, sizeof dir, "%s/data", fixture_dir);
  if (debug_store_open(dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
}

static int set_up(void **state) {
  days_ahead_ns = 0;
  int error = fixture_set_up(state);
  if (error == 0) reopen();
  return error;
}

static int tear_down(void **state) {
  debug_store_close(store);
  store = NULL;
  return fixture_tear_down(state);
}

static int write_part(const char *board, struct span id, const struct sample_file *file,
                      size_t from, size_t to) {
  const struct debug_piece piece = {.board = board,
                                    .id = id,
                                    .offset = from,
                                    .total = sizeof file->bytes,
                                    .sha256 = span_of(file->sha256, 32),
                                    .bytes = span_of(file->bytes + from, to - from)};
  why[0] = '\0';
  return debug_store_write(store, &piece, why, sizeof why);
}

static int write_whole(const char *board, struct span id, const struct sample_file *file) {
  return write_part(board, id, file, 0, sizeof file->bytes);
}

static bool is_wanted(const char *board, struct span id, uint64_t *ret_offset) {
  *ret_offset = UINT64_MAX;
  return debug_store_is_wanted(store, board, id, "/bin/x", ret_offset);
}

static void read_as(const struct sample_file *file, struct span build_id,
                    enum debug_quality quality) {
  assert_int_equal(debug_store_set_identity(store, file->sha256, build_id), 0);
  assert_int_equal(debug_store_set_quality(store, file->sha256, quality, "because"), 0);
}

static bool is_visible(const char *board, struct span id) {
  struct debug_file file;
  return debug_store_find(store, board, id, &file) == 0;
}

static size_t count_files(const char *folder) {
  char path[256];
  size_t count = 0;
  snprintf(path, sizeof path, "%s/data/%s", fixture_dir, folder);
  DIR *listing = opendir(path);
  assert_non_null(listing);
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
    if (entry->d_type == DT_REG) count++;
  closedir(listing);
  return count;
}

static const char *reason_of(struct span id);

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

static void a_file_of_one_board_names_that_board_only(void **state) {
  (void)state;
  struct sample_file file = sample(10);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  assert_true(is_visible("one", id_a)); /* not read yet */
  assert_false(is_visible("two", id_a));
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_true(is_visible("one", id_a));
  assert_false(is_visible("two", id_a));
  assert_true(is_visible(NULL, id_a));
}

static void two_boards_with_the_same_bytes_name_everybody(void **state) {
  (void)state;
  struct sample_file file = sample(11);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  uint64_t generation = debug_store_generation(store);
  assert_int_equal(write_whole("two", id_a, &file), 1);
  assert_true(is_visible("two", id_a));
  assert_true(is_visible("three", id_a));
  assert_true(debug_store_generation(store) > generation);
  assert_int_equal(count_files("debug"), 1);
}

static void the_same_board_twice_is_still_one_board(void **state) {
  (void)state;
  struct sample_file file = sample(12);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  assert_int_equal(write_whole("one", id_b, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_false(is_visible("two", id_a));
}

static void a_file_belongs_to_the_build_id_in_it_whatever_its_sender_says(void **state) {
  (void)state;
  struct sample_file file = sample(13);
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_b, DEBUG_SYMTAB);
  assert_false(is_visible("one", id_a));
  assert_true(is_visible("one", id_b));
  assert_false(is_wanted("one", id_a, &offset)); /* told off */
  assert_non_null(strstr(reason_of(id_a), "6262626262"));
  assert_int_equal(write_whole("two", id_a, &file), -EBADMSG);
  assert_non_null(strstr(why, "another module"));
}

static void a_file_without_build_id_is_known_by_its_hash(void **state) {
  (void)state;
  struct sample_file file = sample(14);
  assert_int_equal(write_whole("one", span_of(file.sha256, 32), &file), 1);
  read_as(&file, span_of(NULL, 0), DEBUG_SYMTAB);
  assert_true(is_visible("one", span_of(file.sha256, 32)));
}

static void the_best_file_is_found(void **state) {
  (void)state;
  for (uint8_t i = 0; i < 8; i++) { /* often enough that no order of hashes explains it */
    uint8_t id[20] = {i};
    struct sample_file poor = sample((uint8_t)(60 + i)), good = sample((uint8_t)(70 + i));
    struct span module = span_of(id, sizeof id);
    struct debug_file found;
    assert_int_equal(write_whole("one", module, &poor), 1);
    read_as(&poor, module, DEBUG_DYNSYM);
    assert_int_equal(write_whole("one", module, &good), 1);
    read_as(&good, module, DEBUG_SYMTAB);
    assert_int_equal(debug_store_find(store, "one", module, &found), 0);
    assert_memory_equal(found.sha256, good.sha256, 32);
  }
}

static void a_module_with_a_symbol_table_is_not_wanted(void **state) {
  (void)state;
  struct sample_file file = sample(17);
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole("one", id_a, &file), 1);
  assert_false(is_wanted("one", id_a, &offset)); /* waiting to be read */
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_false(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("two", id_a, &offset)); /* it does not see one board's file */
}

static void a_board_whose_best_is_poor_is_not_asked_again(void **state) {
  (void)state;
  struct sample_file file = sample(18);
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_DYNSYM);
  assert_false(is_wanted("one", id_a, &offset));
  reopen();
  assert_false(is_wanted("one", id_a, &offset));
  assert_string_equal(reason_of(id_a), "because");
  pass(1.1);
  reopen();
  assert_true(is_wanted("one", id_a, &offset));
}

static void a_rest_that_a_wrong_clock_wrote_does_not_last(void **state) {
  (void)state;
  uint64_t offset;
  pass(10000);
  assert_true(is_wanted("one", id_a, &offset));
  debug_store_unavailable(store, "one", id_a, "no such file");
  days_ahead_ns = 0;
  reopen();
  assert_true(is_wanted("one", id_a, &offset));
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

static void a_board_without_the_file_is_not_asked_again(void **state) {
  (void)state;
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  debug_store_unavailable(store, "one", id_a, "no such file");
  assert_false(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("two", id_a, &offset));
  assert_string_equal(reason_of(id_a), "no such file");
}

static void a_bad_file_is_not_kept_and_its_bytes_are_refused_at_the_first_piece(void **state) {
  (void)state;
  struct sample_file file = sample(19);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  assert_int_equal(debug_store_set_quality(store, file.sha256, DEBUG_BAD, "it is odd"), 0);
  assert_int_equal(count_files("debug"), 0);
  assert_false(is_visible("one", id_a));
  assert_int_equal(write_part("two", id_a, &file, 0, 10), -EBADMSG);
  assert_non_null(strstr(why, "it is odd"));
  reopen();
  assert_int_equal(write_part("two", id_a, &file, 0, 10), -EBADMSG);
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

static void a_crash_leaves_nothing_behind(void **state) {
  (void)state;
  struct sample_file kept = sample(21), lost = sample(22);
  assert_int_equal(write_whole("one", id_a, &kept), 1);
  assert_int_equal(write_whole("one", id_b, &lost), 1);
  read_as(&kept, id_a, DEBUG_SYMTAB);
  struct debug_file found;
  assert_int_equal(debug_store_find(store, "one", id_b, &found), 0);
  unlink(found.path);
  fixture_write("data/debug/partial/stray", "x", 1);
  fixture_write("data/debug/0000000000000000000000000000000000000000000000000000000000000000", "x",
                1);
  fixture_write("data/debug/half.index.new", "x", 1);
  reopen();
  assert_int_equal(count_files("debug"), 1);
  assert_int_equal(count_files("debug/partial"), 0);
  assert_true(is_visible("one", id_a));
  assert_false(is_visible("one", id_b));
}

static char listed_reason[256];
static struct span listed_id;

static int on_module(void *context, const struct debug_module *module) {
  size_t *count = context;
  if (span_is_equal(module->id, listed_id))
    snprintf(listed_reason, sizeof listed_reason, "%s", module->reason);
  (*count)++;
  return 0;
}

static const char *reason_of(struct span id) {
  size_t count = 0;
  listed_id = id;
  listed_reason[0] = '\0';
  assert_int_equal(debug_store_list(store, on_module, &count), 0);
  return listed_reason;
}

static int stop_at_first(void *context, const struct debug_module *module) {
  struct debug_module *kept = context;
  kept->quality = module->quality;
  kept->is_wanted = module->is_wanted;
  assert_string_equal(module->path, "/bin/x");
  return 42;
}

static void modules_are_listed_with_what_they_lack(void **state) {
  (void)state;
  struct sample_file file = sample(23);
  struct debug_module module;
  uint64_t offset;
  size_t count = 0;
  assert_true(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("two", id_a, &offset));
  assert_int_equal(debug_store_list(store, on_module, &count), 0);
  assert_int_equal(count, 1);
  assert_int_equal(debug_store_list(store, stop_at_first, &module), 42);
  assert_true(module.is_wanted);
  assert_int_equal(module.quality, DEBUG_NONE);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_int_equal(debug_store_list(store, stop_at_first, &module), 42);
  assert_false(module.is_wanted);
  assert_int_equal(module.quality, DEBUG_SYMTAB);
}

static void *use_store(void *context) {
  const char *board = context;
  for (uint8_t i = 0; i < 20; i++) {
    uint64_t offset;
    uint8_t id[20] = {i};
    struct sample_file file = sample((uint8_t)(100 + i));
    const struct debug_piece piece = {.board = board,
                                      .id = span_of(id, sizeof id),
                                      .total = 1000,
                                      .sha256 = span_of(file.sha256, 32),
                                      .bytes = span_of(file.bytes, 1000)};
    char reason[128];
    debug_store_is_wanted(store, board, piece.id, "/x", &offset);
    if (debug_store_write(store, &piece, reason, sizeof reason) != 1) return context;
    if (debug_store_set_identity(store, file.sha256, piece.id) != 0) return context;
    if (debug_store_set_quality(store, file.sha256, DEBUG_SYMTAB, "") != 0) return context;
  }
  return NULL;
}

static void threads_may_use_it_at_once(void **state) {
  (void)state;
  static char boards[4][8] = {"one", "two", "three", "four"};
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, use_store, boards[i]), 0);
  for (int i = 0; i < 4; i++) {
    void *failure;
    pthread_join(threads[i], &failure);
    assert_null(failure);
  }
  assert_int_equal(count_files("debug"), 20);
}

static void folders_are_for_the_owner_only(void **state) {
  (void)state;
  struct stat status;
  char path[256];
  snprintf(path, sizeof path, "%s/data/debug", fixture_dir);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0700);
}

static void a_folder_that_cannot_be_made_is_named(void **state) {
  (void)state;
  char error[256] = "";
  struct debug_store *other = NULL;
  assert_true(debug_store_open("/proc/nowhere/x", &other, error, sizeof error) < 0);
  assert_non_null(strstr(error, "/proc/nowhere/x"));
  assert_null(other);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

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
      FRESH(a_file_of_one_board_names_that_board_only),
      FRESH(two_boards_with_the_same_bytes_name_everybody),
      FRESH(the_same_board_twice_is_still_one_board),
      FRESH(a_file_belongs_to_the_build_id_in_it_whatever_its_sender_says),
      FRESH(a_file_without_build_id_is_known_by_its_hash),
      FRESH(the_best_file_is_found),
      FRESH(a_module_with_a_symbol_table_is_not_wanted),
      FRESH(a_board_whose_best_is_poor_is_not_asked_again),
      FRESH(a_rest_that_a_wrong_clock_wrote_does_not_last),
      FRESH(one_board_cannot_fill_the_store),
      FRESH(a_full_store_gives_up_what_nobody_uses_and_nothing_else),
      FRESH(uploads_that_nobody_goes_on_with_are_swept),
      FRESH(a_board_without_the_file_is_not_asked_again),
      FRESH(a_bad_file_is_not_kept_and_its_bytes_are_refused_at_the_first_piece),
      FRESH(a_board_has_few_uploads_at_once),
      FRESH(a_crash_leaves_nothing_behind),
      FRESH(modules_are_listed_with_what_they_lack),
      FRESH(threads_may_use_it_at_once),
      FRESH(folders_are_for_the_owner_only),
      FRESH(a_folder_that_cannot_be_made_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
