/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files that refer to others, which arrive before them, after them, or never. */
#include "../symbol/elf_fixture.h"

#include "names/debug_store.h"
#include "names/debug_wishes.h"
#include "names/symbolizer.h"
#include "symbol/symbol_index.h"

#include <openssl/sha.h>

enum { SETTLE_MS = 20000 };

static struct debug_store *store;
static struct symbolizer *symbolizer;

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

/* BOARD, NULL for an operator, sends the file NAME as that of the module of OWNER. */
static void send_for(const char *board, const char *owner, const char *name) {
  char why[256] = "";
  uint8_t id[64], sha256[32];
  struct span bytes = fixture_read(name), module = span_of(id, fixture_build_id(owner, id));
  struct debug_wish wish = {.id = module, .path = name};
  debug_wishes_ask(store, board != NULL ? board : "one", false, &wish, 1);
  SHA256(bytes.data, bytes.len, sha256);
  const struct debug_piece piece = {.board = board,
                                    .id = module,
                                    .total = bytes.len,
                                    .sha256 = span_of(sha256, 32),
                                    .bytes = bytes};
  if (debug_store_write(store, &piece, why, sizeof why) != 1) fail_msg("%s: %s", name, why);
  assert_int_equal(symbolizer_prepare(symbolizer, board, module), 0);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  fixture_free(bytes);
}

static void send_file(const char *name) {
  send_for(NULL, name, name);
}

/* The names at FUNCTION of the library NAME, innermost first. */
static void expect_chain(const char *name, const char *function, const char *expected) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  char command[256], line[64] = "", told[256] = "";
  uint8_t id[64];
  struct span module = span_of(id, fixture_build_id(name, id));
  snprintf(command, sizeof command, "nm '%s/%s' | grep -w '%s'", fixture_dir, name, function);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  if (fgets(line, sizeof line, pipe) == NULL) fail_msg("%s: not there", function);
  pclose(pipe);
  uint64_t start = strtoull(line, NULL, 16);
  size_t longest = 0;
  for (uint64_t at = start; at < start + 8; at++) { /* where the most functions stand */
    int count = symbolizer_chain(symbolizer, NULL, module, at, frames);
    char text[256] = "";
    size_t len = 0;
    for (int i = 0; i < count; i++)
      len +=
          (size_t)snprintf(text + len, sizeof text - len, "%s%s", i > 0 ? " " : "", frames[i].name);
    if (len > longest) memcpy(told, text, sizeof told);
    if (len > longest) longest = len;
  }
  assert_string_equal(told, expected);
}

struct asked {
  struct span id;
  char reason[512];
};

static int on_module(void *context, const struct debug_module *module) {
  struct asked *asked = context;
  if (span_is_equal(module->id, asked->id))
    snprintf(asked->reason, sizeof asked->reason, "%s", module->reason);
  return 0;
}

static const char *reason_of(const char *name) {
  static struct asked asked;
  uint8_t id[64];
  asked.reason[0] = '\0';
  asked.id = span_of(id, fixture_build_id(name, id));
  assert_int_equal(debug_store_list(store, on_module, &asked), 0);
  return asked.reason;
}

static void names_of_an_alternate_file_are_told_once_it_is_here(void **state) {
  (void)state;
  char id_text[160];
  send_file("a.so");
  expect_chain("a.so", "outer_a", "outer_a");
  assert_non_null(strstr(reason_of("a.so"), ".gnu_debugaltlink"));
  fixture_run("readelf -n common.debug | sed -n 's/.*Build ID: //p' >id");
  struct span id = fixture_read("id");
  snprintf(id_text, sizeof id_text, "%.*s", (int)id.len - 1, (const char *)id.data);
  assert_non_null(strstr(reason_of("a.so"), id_text));
  fixture_free(id);
  send_file("common.debug");
  expect_chain("a.so", "outer_a", "leaf_of_the_header outer_a");
  assert_string_equal(reason_of("a.so"), "");
}

static void an_alternate_file_may_be_here_first(void **state) {
  (void)state;
  send_file("common.debug");
  send_file("b.so");
  expect_chain("b.so", "outer_b", "leaf_of_the_header outer_b");
  assert_string_equal(reason_of("b.so"), "");
}

static void a_boards_supplement_names_nothing_for_others(void **state) {
  (void)state;
  send_file("a.so");
  send_for("one", "common.debug", "common.debug");
  expect_chain("a.so", "outer_a", "outer_a");
  send_file("common.debug"); /* the same from an operator */
  expect_chain("a.so", "outer_a", "leaf_of_the_header outer_a");
}

/* It is not used either when the referring file arrives. */
static void a_boards_supplement_that_came_first_names_nothing_for_others(void **state) {
  (void)state;
  send_for("one", "common.debug", "common.debug");
  send_file("a.so");
  expect_chain("a.so", "outer_a", "outer_a");
  send_for("one", "split.so", "a.dwo");
  send_file("split.so");
  expect_chain("split.so", "outer_a", "outer_a");
  send_for(NULL, "split.so", "a.dwo"); /* the same from an operator */
  expect_chain("split.so", "outer_a", "leaf_of_the_header outer_a");
}

static void a_supplement_that_spoils_the_file_is_done_without(void **state) {
  (void)state;
  fixture_run("cp common.debug spoiled.debug && head -c 300 /dev/zero | tr '\\0' '\\377' >ones && "
              "objcopy --update-section .debug_info=ones spoiled.debug");
  send_file("spoiled.debug"); /* of the same build-id */
  send_file("a.so");
  expect_chain("a.so", "outer_a", "outer_a");
  assert_true(reason_of("a.so")[0] != '\0');
}

static void split_units_are_told_as_they_come(void **state) {
  (void)state;
  send_file("split.so");
  expect_chain("split.so", "outer_a", "outer_a");
  assert_non_null(strstr(reason_of("split.so"), "functions of 2 units"));
  send_for(NULL, "split.so", "a.dwo");
  expect_chain("split.so", "outer_a", "leaf_of_the_header outer_a");
  expect_chain("split.so", "outer_b", "outer_b");
  assert_non_null(strstr(reason_of("split.so"), "functions of 1 units"));
  send_for(NULL, "split.so", "b.dwo");
  expect_chain("split.so", "outer_b", "leaf_of_the_header outer_b");
  assert_string_equal(reason_of("split.so"), "");
}

static void make_libraries(void) {
  static const char header[] = "struct shared_between_many {\n"
                               "  int first_member, second_member;\n"
                               "  struct shared_between_many *next_member_of_list;\n"
                               "};\n"
                               "static inline __attribute__((always_inline)) int\n"
                               "leaf_of_the_header(struct shared_between_many *s) {\n"
                               "  return s->first_member * 77 + s->second_member;\n"
                               "}\n";
  fixture_write("shared.h", header, sizeof header - 1);
  fixture_run("for x in a b; do printf '#include \"shared.h\"\\nint outer_%%s(int x, struct "
              "shared_between_many *s) { return leaf_of_the_header(s) + x; }\\n' $x >$x.c && "
              "cc -O2 -g -fPIC -shared -nostdlib -Wl,--build-id=sha1 $x.c -o $x.so || exit; done; "
              "dwz -m common.debug a.so b.so && "
              "cc -O2 -g -gsplit-dwarf -fPIC -c a.c b.c && "
              "cc -shared -nostdlib -Wl,--build-id=sha1 a.o b.o -o split.so");
}

static int set_up_all(void **state) {
  int error = fixture_set_up(state);
  if (error == 0) make_libraries();
  return error;
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(names_of_an_alternate_file_are_told_once_it_is_here),
      FRESH(an_alternate_file_may_be_here_first),
      FRESH(a_boards_supplement_names_nothing_for_others),
      FRESH(a_boards_supplement_that_came_first_names_nothing_for_others),
      FRESH(a_supplement_that_spoils_the_file_is_done_without),
      FRESH(split_units_are_told_as_they_come),
  };
  return cmocka_run_group_tests(tests, set_up_all, fixture_tear_down);
}
