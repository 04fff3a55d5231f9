/* SPDX-License-Identifier: Apache-2.0 */
/* The debug file that names each board's samples, and the files that are requested. */
#include "debug_store_fixture.h"

#include "names/debug_store_dwarf.h"

#include <pthread.h>
#include <sys/stat.h>

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
  uint64_t generation = debug_store_generation(store, id_a);
  assert_int_equal(write_whole("two", id_a, &file), 1);
  assert_true(is_visible("two", id_a));
  assert_true(is_visible("three", id_a));
  assert_true(debug_store_generation(store, id_a) > generation);
  assert_int_equal(count_files("debug"), 1);
}

static void boards_overrule_no_operator(void **state) {
  (void)state;
  struct sample_file theirs = sample(15), whole = sample(16), part = sample(17);
  struct debug_file file, public[DEBUG_PUBLIC_MAX];
  char path[LIMIT_PATH_BYTES + 1];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(write_whole(i == 0 ? "one" : "two", id_a, &theirs), 1);
    assert_int_equal(write_whole(i == 0 ? "one" : "two", id_a, &part), 1);
  }
  read_as(&theirs, id_a, DEBUG_DWARF);
  read_as(&part, id_a, DEBUG_DYNSYM);
  assert_int_equal(debug_store_find(store, "three", id_a, &file), 0);
  assert_memory_equal(file.sha256, theirs.sha256, 32);
  assert_int_equal(write_whole(NULL, id_a, &whole), 1);
  read_as(&whole, id_a, DEBUG_SYMTAB);
  assert_int_equal(debug_store_find(store, "three", id_a, &file), 0);
  assert_memory_equal(file.sha256, whole.sha256, 32);
  assert_int_equal(debug_store_public(store, id_a, public, path), 2);
  assert_memory_equal(public[0].sha256, whole.sha256, 32);
  assert_memory_equal(public[1].sha256, part.sha256, 32); /* has content that the other lacks */
  assert_int_equal(debug_store_find(store, "one", id_a, &file), 0);
  assert_memory_equal(file.sha256, theirs.sha256, 32); /* its own word about itself */
}

static void one_boards_file_is_no_publics(void **state) {
  (void)state;
  struct sample_file file = sample(18);
  struct debug_file public[DEBUG_PUBLIC_MAX];
  char path[LIMIT_PATH_BYTES + 1];
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_DWARF);
  assert_int_equal(debug_store_public(store, id_a, public, path), 0);
  assert_int_equal(write_whole("two", id_a, &file), 1);
  assert_int_equal(debug_store_public(store, id_a, public, path), 1);
}

enum { OTHERS = 32 };

static uint64_t generation_of(unsigned number) {
  uint8_t bytes[20] = {(uint8_t)number, 'x'};
  return debug_store_generation(store, span_of(bytes, sizeof bytes));
}

static void a_file_changes_what_is_known_of_its_own_modules(void **state) {
  (void)state;
  struct sample_file file = sample(13);
  uint64_t others[OTHERS], a = debug_store_generation(store, id_a);
  unsigned disturbed = 0;
  for (unsigned i = 0; i < OTHERS; i++) others[i] = generation_of(i);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  assert_true(debug_store_generation(store, id_a) > a);
  uint64_t b = debug_store_generation(store, id_b);
  read_as(&file, id_b, DEBUG_SYMTAB);
  assert_true(debug_store_generation(store, id_b) > b);
  a = debug_store_generation(store, id_a);
  assert_int_equal(debug_store_set_quality(store, file.sha256, DEBUG_BAD, "it loops"), 0);
  assert_true(debug_store_generation(store, id_a) > a); /* it was sent for that module */
  for (unsigned i = 0; i < OTHERS; i++) disturbed += generation_of(i) != others[i];
  assert_true(disturbed < 3); /* now and then is allowed */
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
  assert_false(is_wanted("one", id_a, &offset)); /* was rejected */
  assert_non_null(strstr(reason_of(id_a), "6262626262"));
  assert_int_equal(write_whole("two", id_a, &file), -EBADMSG);
  assert_non_null(strstr(why, "another module"));
}

static bool is_code_wanted(const char *board, struct span id) {
  struct debug_wish wish = {.id = id, .path = "/bin/x"};
  debug_wishes_ask(store, board, true, &wish, 1);
  return wish.is_wanted;
}

/* These files have no code, as separate debug files have none. */
static void code_is_asked_of_each_board_once_however_well_a_module_is_named(void **state) {
  struct sample_file debug = sample(21), program = sample(22);
  uint64_t offset;
  (void)state;
  assert_int_equal(write_whole(NULL, id_a, &debug), 1);
  read_as(&debug, id_a, DEBUG_DWARF);
  assert_false(is_wanted("one", id_a, &offset));
  assert_true(is_code_wanted("one", id_a));
  assert_int_equal(write_whole("one", id_a, &program), 1);
  read_as(&program, id_a, DEBUG_DYNSYM);
  assert_false(is_code_wanted("one", id_a)); /* it has sent its code */
  assert_true(is_code_wanted("two", id_a));
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
  assert_true(is_wanted("two", id_a, &offset)); /* it does not get another board's file */
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
  assert_string_equal(reason_of(id_a), "because; upload the debug file of this build");
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

static void a_refused_file_is_told_of_where_nothing_better_is_known(void **state) {
  (void)state;
  struct sample_file bad = sample(38), good = sample(39);
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole(NULL, id_a, &bad), 1);
  assert_int_equal(debug_store_set_quality(store, bad.sha256, DEBUG_BAD, "it loops"), 0);
  assert_non_null(strstr(reason_of(id_a), "was refused: it loops"));
  assert_int_equal(write_whole(NULL, id_a, &good), 1);
  read_as(&good, id_a, DEBUG_SYMTAB);
  assert_null(strstr(reason_of(id_a), "refused"));
}

static void debug_information_waits_until_it_is_read_or_refused(void **state) {
  (void)state;
  struct sample_file first = sample(40), second = sample(41);
  struct debug_file file;
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_true(is_wanted("one", id_b, &offset));
  assert_int_equal(write_whole("one", id_a, &first), 1);
  assert_int_equal(write_whole("one", id_b, &second), 1);
  read_as(&first, id_a, DEBUG_SYMTAB);
  read_as(&second, id_b, DEBUG_SYMTAB);
  assert_int_equal(debug_store_next_dwarf(store, &file), -ENOENT);
  assert_int_equal(debug_store_await_dwarf(store, first.sha256), 0);
  assert_int_equal(debug_store_await_dwarf(store, second.sha256), 0);
  assert_non_null(strstr(reason_of(id_a), "is being read"));
  reopen();
  assert_int_equal(debug_store_next_dwarf(store, &file), 0);
  assert_memory_equal(file.sha256, first.sha256, 32);
  debug_store_hurry(store, second.sha256);
  assert_int_equal(debug_store_next_dwarf(store, &file), 0);
  assert_memory_equal(file.sha256, second.sha256, 32);
  debug_store_postpone(store, second.sha256);
  assert_int_equal(debug_store_next_dwarf(store, &file), 0);
  assert_memory_equal(file.sha256, first.sha256, 32);
  uint64_t generation = debug_store_generation(store, id_a);
  assert_int_equal(debug_store_set_dwarf(store, first.sha256, ""), 0);
  assert_true(debug_store_generation(store, id_a) > generation);
  assert_string_equal(reason_of(id_a), "");
  assert_int_equal(debug_store_find(store, "one", id_a, &file), 0);
  assert_int_equal(file.quality, DEBUG_DWARF);
  assert_int_equal(debug_store_refuse_dwarf(store, second.sha256, "it stands", false), 0);
  assert_int_equal(debug_store_next_dwarf(store, &file), -ENOENT);
  assert_non_null(strstr(reason_of(id_b), "it stands"));
  reopen();
  assert_int_equal(debug_store_next_dwarf(store, &file), 0); /* waits again */
  assert_memory_equal(file.sha256, second.sha256, 32);
  assert_int_equal(debug_store_refuse_dwarf(store, second.sha256, "it loops", true), 0);
  reopen();
  assert_non_null(strstr(reason_of(id_b), "it loops"));
  assert_int_equal(debug_store_await_dwarf(store, second.sha256), 0); /* known as refused */
  assert_int_equal(debug_store_next_dwarf(store, &file), -ENOENT);
  assert_int_equal(debug_store_find(store, "one", id_b, &file), 0);
  assert_int_equal(file.quality, DEBUG_SYMTAB);
}

static void what_debug_information_lacks_is_told(void **state) {
  (void)state;
  struct sample_file file = sample(44);
  struct debug_file found;
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole("one", id_a, &file), 1);
  read_as(&file, id_a, DEBUG_SYMTAB);
  assert_int_equal(debug_store_set_dwarf(store, file.sha256, "names are elsewhere"), 0);
  assert_non_null(strstr(reason_of(id_a), "read in part: names are elsewhere"));
  assert_int_equal(debug_store_find(store, "one", id_a, &found), 0);
  assert_int_equal(found.quality, DEBUG_DWARF);
}

static void each_quality_gives_one_file_best_first(void **state) {
  (void)state;
  static const enum debug_quality qualities[] = {DEBUG_DYNSYM, DEBUG_MAP, DEBUG_DYNSYM, DEBUG_DWARF,
                                                 DEBUG_BAD};
  struct debug_file files[DEBUG_SOURCES_MAX];
  for (uint8_t i = 0; i < 5; i++) {
    struct sample_file file = sample((uint8_t)(50 + i));
    assert_int_equal(write_whole("one", id_a, &file), 1);
    read_as(&file, id_a, qualities[i]);
  }
  assert_int_equal(debug_store_sources(store, "one", id_a, files), 3);
  assert_int_equal(files[0].quality, DEBUG_DWARF);
  assert_int_equal(files[1].quality, DEBUG_DYNSYM);
  assert_int_equal(files[2].quality, DEBUG_MAP);
  assert_int_equal(debug_store_sources(store, "two", id_a, files), 0);
}

static void a_list_beside_exported_symbols_is_enough(void **state) {
  (void)state;
  struct sample_file stripped = sample(42), list = sample(43);
  uint64_t offset;
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole(NULL, id_a, &stripped), 1);
  read_as(&stripped, id_a, DEBUG_DYNSYM);
  assert_true(is_wanted("one", id_a, &offset));
  assert_int_equal(write_whole(NULL, id_a, &list), 1);
  read_as(&list, id_a, DEBUG_MAP);
  assert_false(is_wanted("one", id_a, &offset));
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
    is_wanted(board, piece.id, &offset);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(a_file_of_one_board_names_that_board_only),
      FRESH(two_boards_with_the_same_bytes_name_everybody),
      FRESH(boards_overrule_no_operator),
      FRESH(one_boards_file_is_no_publics),
      FRESH(a_file_changes_what_is_known_of_its_own_modules),
      FRESH(the_same_board_twice_is_still_one_board),
      FRESH(a_file_belongs_to_the_build_id_in_it_whatever_its_sender_says),
      FRESH(code_is_asked_of_each_board_once_however_well_a_module_is_named),
      FRESH(a_file_without_build_id_is_known_by_its_hash),
      FRESH(the_best_file_is_found),
      FRESH(a_module_with_a_symbol_table_is_not_wanted),
      FRESH(a_board_whose_best_is_poor_is_not_asked_again),
      FRESH(a_rest_that_a_wrong_clock_wrote_does_not_last),
      FRESH(a_board_without_the_file_is_not_asked_again),
      FRESH(a_bad_file_is_not_kept_and_its_bytes_are_refused_at_the_first_piece),
      FRESH(a_crash_leaves_nothing_behind),
      FRESH(modules_are_listed_with_what_they_lack),
      FRESH(a_refused_file_is_told_of_where_nothing_better_is_known),
      FRESH(debug_information_waits_until_it_is_read_or_refused),
      FRESH(what_debug_information_lacks_is_told),
      FRESH(each_quality_gives_one_file_best_first),
      FRESH(a_list_beside_exported_symbols_is_enough),
      FRESH(threads_may_use_it_at_once),
      FRESH(folders_are_for_the_owner_only),
      FRESH(a_folder_that_cannot_be_made_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
