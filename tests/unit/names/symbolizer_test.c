/* SPDX-License-Identifier: Apache-2.0 */
#include "../symbol/elf_fixture.h"

#include "common/clock.h"
#include "names/debug_store_dwarf.h"
#include "names/debug_wishes.h"
#include "names/symbolizer.h"
#include "symbol/index_file.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <openssl/sha.h>
#include <pthread.h>

static struct debug_store *store;
static struct symbolizer *symbolizer;
static uint8_t library_id[64];
static struct span id; /* of lib.so and the files made from it */

enum { SETTLE_MS = 20000 };

static void open_all(void) {
  char error[256] = "", dir[128];
  snprintf(dir, sizeof dir, "%s/data", fixture_dir);
  if (debug_store_open(dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
  if (symbolizer_open(store, &symbolizer, error, sizeof error) != 0) fail_msg("%s", error);
}

static void close_all(void) {
  symbolizer_close(symbolizer);
  debug_store_close(store);
  symbolizer = NULL;
  store = NULL;
}

static int set_up(void **state) {
  (void)state;
  fixture_run("rm -rf data");
  open_all();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  close_all();
  return 0;
}

static void put_file(const char *board, struct span module, const char *name) {
  char why[256] = "";
  uint8_t sha256[32];
  struct span bytes = fixture_read(name);
  SHA256(bytes.data, bytes.len, sha256);
  const struct debug_piece piece = {.board = board,
                                    .id = module,
                                    .total = bytes.len,
                                    .sha256 = span_of(sha256, 32),
                                    .bytes = bytes};
  if (debug_store_write(store, &piece, why, sizeof why) != 1) fail_msg("%s: %s", name, why);
  fixture_free(bytes);
}

/* Uploads the file and has its symbols read, with any result. */
static void send_file(const char *board, struct span module, const char *name) {
  put_file(board, module, name);
  symbolizer_prepare(symbolizer, board, module);
}

static uint64_t address_of(const char *name) {
  char command[256], line[64] = "";
  snprintf(command, sizeof command, "nm '%s/lib.so' | grep -w '%s'", fixture_dir, name);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  if (fgets(line, sizeof line, pipe) == NULL) fail_msg("%s: not there", name);
  pclose(pipe);
  return strtoull(line, NULL, 16);
}

static const char *name_at(const char *board, const char *function) {
  struct symbol symbol;
  if (symbolizer_find(symbolizer, board, id, address_of(function), &symbol) != 0) return "";
  return symbol.name;
}

static void a_file_that_was_sent_gives_names(void **state) {
  (void)state;
  struct symbol symbol;
  struct debug_file file;
  assert_string_equal(name_at("one", "outer"), "");
  send_file("one", id, "lib.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_int_equal(symbolizer_find(symbolizer, "one", id, address_of("outer") + 1, &symbol), 0);
  assert_string_equal(symbol.name, "outer");
  assert_int_equal(symbol.start, address_of("outer"));
  assert_true(symbol.size > 1);
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  assert_true(file.quality >= DEBUG_SYMTAB);
  assert_int_equal(symbolizer_find(symbolizer, "one", id, 1, &symbol), -ENOENT);
}

static void a_file_is_read_when_it_is_asked_for_if_not_before(void **state) {
  (void)state;
  put_file("one", id, "lib.so");
  assert_string_equal(name_at("one", "inner"), ""); /* lookups do not wait for it */
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_string_equal(name_at("one", "inner"), "inner");
}

static void a_file_that_was_not_read_is_read_for_all_whom_it_names(void **state) {
  (void)state;
  put_file("one", id, "lib.so");
  assert_string_equal(name_at("two", "inner"), "");
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  put_file("two", id, "lib.so");
  assert_string_equal(name_at("three", "inner"), "");
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_string_equal(name_at("three", "inner"), "inner");
}

static void an_operators_file_that_was_not_read_is_read_for_any_board(void **state) {
  (void)state;
  put_file(NULL, id, "lib.so");
  assert_string_equal(name_at("one", "inner"), "");
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_string_equal(name_at("one", "inner"), "inner");
}

static void files_that_were_taken_and_not_read_the_next_collector_reads(void **state) {
  (void)state;
  struct debug_file file;
  put_file(NULL, id, "lib.so");
  close_all();
  open_all();
  symbolizer_start(symbolizer);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  assert_int_equal(file.quality, DEBUG_DWARF);
}

static void another_boards_file_gives_no_names_until_both_sent_it(void **state) {
  (void)state;
  send_file("one", id, "lib.so");
  assert_string_equal(name_at("one", "inner"), "inner");
  assert_string_equal(name_at("two", "inner"), "");
  assert_string_equal(name_at(NULL, "inner"), "inner");
  send_file("two", id, "lib.so");
  assert_string_equal(name_at("two", "inner"), "inner");
  assert_string_equal(name_at("three", "inner"), "inner");
}

static void a_better_file_renames_what_is_known(void **state) {
  (void)state;
  send_file("one", id, "stripped.so");
  assert_string_equal(name_at("one", "outer"), "outer");
  assert_string_equal(name_at("one", "inner"), "");
  send_file("one", id, "lib.debug");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_string_equal(name_at("one", "inner"), "inner");
}

static void a_stripped_file_tells_where_functions_begin(void **state) {
  (void)state;
  struct symbol symbol;
  send_file("one", id, "stripped.so");
  uint64_t start = address_of("inner");
  assert_int_equal(symbolizer_find(symbolizer, "one", id, start + 1, &symbol), 0);
  assert_string_equal(symbol.name, "");
  assert_int_equal(symbol.start, start);
}

static void a_better_file_is_read_after_the_next_question(void **state) {
  (void)state;
  send_file("one", id, "stripped.so");
  assert_string_equal(name_at("one", "inner"), "");
  put_file("one", id, "lib.debug");
  assert_string_equal(name_at("one", "outer"), "outer"); /* the existing index stays in use */
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_string_equal(name_at("one", "inner"), "inner");
}

static bool is_wanted_of_one(struct span module, const char *path) {
  struct debug_wish wish = {.id = module, .path = path};
  debug_wishes_ask(store, "one", false, &wish, 1);
  return wish.is_wanted;
}

static void a_file_of_another_module_is_refused(void **state) {
  (void)state;
  char why[256] = "";
  struct span other = span_of("cccccccccccccccccccc", 20);
  assert_true(is_wanted_of_one(other, "/x"));
  send_file("one", other, "lib.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", other), -EBADMSG);
  assert_int_equal(debug_store_judge(store, "one", other, why, sizeof why), -EBADMSG);
  assert_non_null(strstr(why, "another module"));
  assert_false(is_wanted_of_one(other, "/x"));
  assert_string_equal(name_at("one", "outer"), "outer"); /* of its own module */
}

static void a_malformed_file_is_refused_and_names_stay(void **state) {
  (void)state;
  struct debug_file file;
  char why[256] = "";
  send_file("one", id, "lib.so");
  assert_string_equal(name_at("one", "outer"), "outer");
  fixture_write("bad",
                "\x7f"
                "ELF garbage",
                12);
  fixture_write("bad2",
                "\x7f"
                "ELF other garbage",
                18);
  send_file("one", id, "bad");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), -EBADMSG);
  assert_int_equal(debug_store_judge(store, "one", id, why, sizeof why), -EBADMSG);
  assert_non_null(strstr(why, "ELF"));
  send_file("two", id, "bad2");
  assert_int_equal(symbolizer_prepare(symbolizer, "two", id), -EBADMSG);
  assert_int_equal(symbolizer_prepare(symbolizer, "three", id), -ENOENT);
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  assert_true(file.quality >= DEBUG_SYMTAB);
  assert_string_equal(name_at("one", "outer"), "outer");
}

static enum debug_quality quality_at(const char *function) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  enum debug_quality quality;
  symbolizer_name(symbolizer, "one", id, address_of(function), frames, &quality);
  return quality;
}

static void debug_information_follows_the_symbol_table(void **state) {
  (void)state;
  struct debug_file file;
  uint64_t generation = debug_store_generation(store, id);
  send_file("one", id, "lib.so");
  const char *first = name_at("one", "outer");
  assert_string_equal(first, "outer");
  assert_true(quality_at("outer") >= DEBUG_SYMTAB);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_true(debug_store_generation(store, id) > generation);
  assert_int_equal(quality_at("outer"), DEBUG_DWARF);
  assert_string_equal(name_at("one", "outer"), "outer");
  assert_string_equal(first, "outer"); /* of the index that counts no more */
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  assert_int_equal(access(file.index_path, F_OK), 0);
  assert_int_equal(access(file.dwarf_path, F_OK), 0);
}

static void what_a_collector_left_unread_the_next_one_reads(void **state) {
  (void)state;
  struct debug_file file;
  send_file("one", id, "lib.so");
  assert_string_equal(name_at("one", "outer"), "outer");
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  assert_int_equal(debug_store_set_quality(store, file.sha256, DEBUG_SYMTAB, ""), 0);
  assert_int_equal(debug_store_await_dwarf(store, file.sha256), 0);
  close_all();
  open_all();
  assert_int_equal(quality_at("outer"), DEBUG_SYMTAB);
  symbolizer_start(symbolizer);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(quality_at("outer"), DEBUG_DWARF);
}

static void a_lost_index_with_debug_information_is_made_in_two_steps(void **state) {
  (void)state;
  struct debug_file file;
  send_file("one", id, "lib.so");
  assert_string_equal(name_at("one", "outer"), "outer");
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  close_all();
  assert_int_equal(unlink(file.dwarf_path), 0);
  open_all();
  assert_string_equal(name_at("one", "outer"), "");
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(quality_at("outer"), DEBUG_DWARF);
  assert_int_equal(access(file.dwarf_path, F_OK), 0);
}

static void the_order_of_files_makes_no_difference(void **state) {
  (void)state;
  send_file("one", id, "lib.debug");
  assert_string_equal(name_at("one", "inner"), "inner");
  send_file("one", id, "stripped.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_string_equal(name_at("one", "inner"), "inner");
  assert_int_equal(quality_at("inner"), DEBUG_DWARF);
}

static void a_list_names_what_the_stripped_file_does_not(void **state) {
  (void)state;
  char line[64];
  int len =
      snprintf(line, sizeof line, "%016llx t inner\n%016llx T from_list\n",
               (unsigned long long)address_of("inner"), (unsigned long long)address_of("outer"));
  fixture_write("list", line, (size_t)len);
  send_file("one", id, "stripped.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_string_equal(name_at("one", "inner"), "");
  send_file("one", id, "list");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_string_equal(name_at("one", "inner"), "inner");
  assert_int_equal(quality_at("inner"), DEBUG_MAP);
  assert_string_equal(name_at("one", "outer"), "outer"); /* its own word, not the list's */
  assert_int_equal(quality_at("outer"), DEBUG_DYNSYM);
}

/* An address outside of a symbol table's functions is no function, even if a list has it. */
static void a_list_is_not_asked_where_a_symbol_table_is(void **state) {
  (void)state;
  static const char list[] = "0000000000000010 T from_list\n0000000000000020 T more\n";
  struct symbol symbol;
  fixture_write("list", list, sizeof list - 1);
  send_file("one", id, "list");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_int_equal(symbolizer_find(symbolizer, "one", id, 0x18, &symbol), 0);
  assert_string_equal(symbol.name, "from_list");
  send_file("one", id, "stripped.so"); /* without a list */
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_int_equal(symbolizer_find(symbolizer, "one", id, 0x18, &symbol), 0);
  send_file("one", id, "lib.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(symbolizer_find(symbolizer, "one", id, 0x18, &symbol), -ENOENT);
  assert_string_equal(name_at("one", "inner"), "inner");
}

static void debug_information_without_symbols_is_read_in_its_turn(void **state) {
  (void)state;
  struct debug_file file;
  fixture_run("objcopy --strip-all --keep-section='.debug_*' lib.debug alone.debug");
  send_file("one", id, "alone.debug");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(quality_at("inner"), DEBUG_DWARF);
  assert_string_equal(name_at("one", "inner"), "inner");
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  assert_int_equal(file.quality, DEBUG_DWARF);
}

static int on_module(void *context, const struct debug_module *module) {
  if (span_is_equal(module->id, id)) snprintf(context, 512, "%s", module->reason);
  return 0;
}

/* The store's reason about lib.so, which board "one" has. */
static const char *reason_of_library(void) {
  static char reason[512];
  is_wanted_of_one(id, "/lib.so");
  reason[0] = '\0';
  assert_int_equal(debug_store_list(store, on_module, reason), 0);
  return reason;
}

static void debug_information_of_no_use_costs_itself_and_the_next_is_read(void **state) {
  (void)state;
  struct debug_file file;
  fixture_run("head -c 64 /dev/zero >zeros && "
              "objcopy --update-section .debug_info=zeros lib.so bad.so");
  send_file("one", id, "bad.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(quality_at("inner"), DEBUG_SYMTAB);
  assert_string_equal(name_at("one", "inner"), "inner");
  assert_non_null(strstr(reason_of_library(), "debug information is of no use: "));
  assert_int_equal(debug_store_next_dwarf(store, &file), -ENOENT); /* not tried again */
  send_file("one", id, "lib.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id), 0);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(quality_at("inner"), DEBUG_DWARF);
}

static void a_stub_is_named_by_the_file_that_has_the_code(void **state) {
  (void)state;
  uint8_t bytes[64];
  struct symbol symbol;
  fixture_run("printf 'int far(int); int use(int x) { return far(x) + 1; }' >stub.c && "
              "cc -g -O1 -nostdlib -shared -fPIC -Wl,--build-id=sha1 -o stub.so stub.c && "
              "objcopy --only-keep-debug stub.so stub.debug && "
              "objdump -d stub.so | sed -n 's/^\\([0-9a-f]*\\) <far@plt>:/\\1/p' >place");
  struct span module = span_of(bytes, fixture_build_id("stub.so", bytes));
  struct span place = fixture_read("place");
  char text[32] = "";
  memcpy(text, place.data, place.len < sizeof text ? place.len : sizeof text - 1);
  uint64_t address = strtoull(text, NULL, 16);
  fixture_free(place);
  if (address == 0) skip(); /* objdump of this machine prints no stubs */
  send_file("one", module, "stub.debug");
  assert_int_equal(symbolizer_find(symbolizer, "one", module, address, &symbol), 0);
  assert_string_equal(symbol.name, "[plt]");
  send_file("one", module, "stub.so");
  assert_int_equal(symbolizer_find(symbolizer, "one", module, address, &symbol), 0);
  assert_string_equal(symbol.name, "far@plt");
}

/* Assembler source of COUNT functions. Each name is the end of the previous one, so the linker
   stores them all in the bytes of the longest. */
static void write_ends(const char *name, int count) {
  enum { LONGEST = 8000 };
  static char text[LONGEST + 1];
  uint32_t number = 1;
  for (int i = 0; i < LONGEST; i++) {
    number = number * 1664525 + 1013904223;
    text[i] = (char)('a' + (number >> 24) % 26);
  }
  char path[FIXTURE_PATH_BYTES];
  fixture_path(name, path);
  FILE *source = fopen(path, "we");
  assert_non_null(source);
  fprintf(source, ".text\n");
  for (int i = 0; i < count; i++) fprintf(source, "%s: .byte 0\n", text + 2 * i);
  fclose(source);
}

static void names_that_share_their_bytes_take_no_more_memory_than_the_file_says(void **state) {
  (void)state;
  char why[256] = "";
  uint8_t bytes[64];
  write_ends("ends.s", 1500);
  fixture_run("cc -nostdlib -shared -Wl,--build-id=sha1 -o ends.so ends.s");
  struct span file = fixture_read("ends.so");
  assert_true(file.len < 200000);
  fixture_free(file);
  struct span ends = span_of(bytes, fixture_build_id("ends.so", bytes));
  put_file("one", ends, "ends.so");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", ends), -EBADMSG);
  assert_int_equal(debug_store_judge(store, "one", ends, why, sizeof why), -EBADMSG);
  if (strstr(why, "its names would take") == NULL) fail_msg("%s", why);
}

static void indexes_outlive_a_restart_and_lost_ones_are_made_again(void **state) {
  (void)state;
  struct debug_file file;
  send_file("one", id, "lib.so");
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  close_all();
  open_all();
  assert_string_equal(name_at("one", "outer"), "outer");
  assert_int_equal(debug_store_find(store, "one", id, &file), 0);
  for (int i = 0; i < 2; i++) {
    close_all();
    assert_int_equal(i == 0 ? truncate(file.dwarf_path, 100) : unlink(file.dwarf_path), 0);
    open_all();
    assert_string_equal(name_at("one", "outer"), "");
    assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
    assert_string_equal(name_at("one", "outer"), "outer");
  }
}

static void *ask_often(void *context) {
  for (int i = 0; i < 2000; i++) {
    struct symbol symbol;
    uint64_t address = *(const uint64_t *)context;
    if (symbolizer_find(symbolizer, i % 2 == 0 ? "one" : NULL, id, address, &symbol) != 0 ||
        strcmp(symbol.name, "outer") != 0)
      return context;
  }
  return NULL;
}

static void threads_may_ask_at_once(void **state) {
  (void)state;
  pthread_t threads[4];
  uint64_t address = address_of("outer");
  send_file("one", id, "lib.so");
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &address), 0);
  for (int i = 0; i < 4; i++) {
    void *failure;
    pthread_join(threads[i], &failure);
    assert_null(failure);
  }
}

static double seconds_since(uint64_t start_ns) {
  return (double)(clock_monotonic_ns() - start_ns) / NS_PER_SECOND;
}

/* Prints the cost of indexing a large debug file, and of a lookup. */
static void measure(const char *path) {
  uint8_t bytes[64];
  struct debug_file file;
  struct stat status;
  struct symbol symbol;
  struct index_file index;
  struct span module = span_of(bytes, fixture_build_id(path, bytes));
  put_file("big", module, path);
  uint64_t start_ns = clock_monotonic_ns();
  assert_int_equal(symbolizer_prepare(symbolizer, "big", module), 0);
  double took_s = seconds_since(start_ns);
  assert_int_equal(debug_store_find(store, "big", module, &file), 0);
  assert_int_equal(stat(file.index_path, &status), 0);
  assert_int_equal(index_file_open(file.index_path, &index), 0);
  const unsigned count = 1000000;
  unsigned named = 0, random = 1;
  start_ns = clock_monotonic_ns();
  for (unsigned i = 0; i < count; i++) {
    random = random * 1664525 + 1013904223;
    uint64_t address = index.index.blocks[(random >> 8) % index.index.block_count].address;
    named += symbolizer_find(symbolizer, "big", module, address, &symbol) == 0;
  }
  double find_s = seconds_since(start_ns);
  index_file_close(&index);
  assert_true(named > count / 4); /* many blocks begin with a gap */
  print_message("%s: %.1f MB -> index %.2f MB in %.0f ms; %.1f M lookups/s\n", path,
                (double)file.bytes / 1e6, (double)status.st_size / 1e6, took_s * 1e3,
                (double)count / find_s / 1e6);
}

static void big_debug_files_are_read_well_within_the_deadline(void **state) {
  (void)state;
  if (system("ls /usr/lib/debug/.build-id/*/*.debug >/dev/null 2>&1") != 0) skip();
  fixture_run("ls -S /usr/lib/debug/.build-id/*/*.debug | head -n 4 >names");
  struct span names = fixture_read("names");
  char *text = strndup((const char *)names.data, names.len), *rest = text;
  for (char *name; (name = strtok_r(rest, "\n", &rest)) != NULL;) measure(name);
  free(text);
  fixture_free(names);
}

static int set_up_all(void **state) {
  int error = fixture_set_up(state);
  if (error != 0) return error;
  fixture_make_library("");
  fixture_run("objcopy --only-keep-debug lib.so lib.debug && strip -o stripped.so lib.so");
  id = span_of(library_id, fixture_build_id("lib.so", library_id));
  return id.len == 20 ? 0 : -1;
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(a_file_that_was_sent_gives_names),
      FRESH(a_file_is_read_when_it_is_asked_for_if_not_before),
      FRESH(a_file_that_was_not_read_is_read_for_all_whom_it_names),
      FRESH(an_operators_file_that_was_not_read_is_read_for_any_board),
      FRESH(files_that_were_taken_and_not_read_the_next_collector_reads),
      FRESH(another_boards_file_gives_no_names_until_both_sent_it),
      FRESH(a_better_file_renames_what_is_known),
      FRESH(a_stripped_file_tells_where_functions_begin),
      FRESH(a_better_file_is_read_after_the_next_question),
      FRESH(a_file_of_another_module_is_refused),
      FRESH(a_malformed_file_is_refused_and_names_stay),
      FRESH(names_that_share_their_bytes_take_no_more_memory_than_the_file_says),
      FRESH(indexes_outlive_a_restart_and_lost_ones_are_made_again),
      FRESH(debug_information_follows_the_symbol_table),
      FRESH(what_a_collector_left_unread_the_next_one_reads),
      FRESH(a_lost_index_with_debug_information_is_made_in_two_steps),
      FRESH(the_order_of_files_makes_no_difference),
      FRESH(debug_information_without_symbols_is_read_in_its_turn),
      FRESH(debug_information_of_no_use_costs_itself_and_the_next_is_read),
      FRESH(a_stub_is_named_by_the_file_that_has_the_code),
      FRESH(a_list_names_what_the_stripped_file_does_not),
      FRESH(a_list_is_not_asked_where_a_symbol_table_is),
      FRESH(threads_may_ask_at_once),
      FRESH(big_debug_files_are_read_well_within_the_deadline),
  };
  return cmocka_run_group_tests(tests, set_up_all, fixture_tear_down);
}
