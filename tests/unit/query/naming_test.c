/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a tree are read from a real file, this test's executable, through the real symbolizer,
   and only for the board that sent it. */
#include "fixture.h"
#include "own_file.h"

#include "names/lookup_counts.h"
#include "names/symbolizer.h"

#include <dlfcn.h>

/* Never called: samples claim to have been taken in it. */
__attribute__((noinline, used)) void a_function_to_be_named(void);
void a_function_to_be_named(void) {
  __asm__ volatile("nop; nop; nop; nop");
}

extern char a_place_within[];

__attribute__((always_inline)) static inline void an_inner_one(void) {
  __asm__ volatile(".globl a_place_within\na_place_within: nop; nop; nop; nop");
}

__attribute__((always_inline)) static inline void a_middle_one(void) {
  an_inner_one();
}

__attribute__((noinline, used)) void a_function_with_two_inlined(void);
void a_function_with_two_inlined(void) {
  a_middle_one();
}

/* Root first; addresses neither in order nor each once. */
static void append_sample(struct store *store, const char *board, const struct own_file *own) {
  uint64_t address = (uint64_t)(uintptr_t)a_function_to_be_named - own->load_address;
  uint64_t within = (uint64_t)(uintptr_t)a_place_within - own->load_address;
  const uint64_t frames[][2] = {
      {0, 0xffffffffffff}, {0, within}, {0, address + 2}, {0, address}, {0, within}};
  struct window window;
  window_init(&window, "own", 1);
  window.modules[0].id = span_of(own->build_id, own->build_id_len);
  window_add(&window, frames, 5, 1, 10);
  window_append(&window, store, board, 1, NOON_MS);
}

/* Weight that passes through NAME's outermost node. */
static uint64_t weight_of(const struct query_source *source, struct arena *arena, const char *match,
                          const char *name) {
  struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct selector *selector = NULL;
  struct view_tree tree;
  char why[128];
  assert_int_equal(selector_parse(match, &selector, why, sizeof why), 0);
  range.selector = selector;
  assert_int_equal(query_tree(source, &range, arena, &tree), 0);
  selector_free(selector);
  for (uint32_t i = 0; i < tree.node_count; i++)
    if (strcmp(tree.functions[tree.nodes[i].function].name, name) == 0)
      return wide_sum_cut(tree.nodes[i].total_weight);
  return 0;
}

/* The quality of the source of NAME. */
static const char *quality_of(const struct query_source *source, struct arena *arena,
                              const char *name) {
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  assert_int_equal(query_tree(source, &range, arena, &tree), 0);
  for (uint32_t i = 1; i < tree.function_count; i++)
    if (strcmp(tree.functions[i].name, name) == 0) return tree.functions[i].quality;
  return "";
}

/* Checks the names from the leaf of the only stack of board b1 to its root. */
static void check_stack(const struct query_source *source, struct arena *arena,
                        const char *const *names, uint32_t count) {
  struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  char why[128];
  uint32_t at = 0;
  struct selector *selector = NULL;
  assert_int_equal(selector_parse("{board=\"b1\"}", &selector, why, sizeof why), 0);
  range.selector = selector;
  assert_int_equal(query_tree(source, &range, arena, &tree), 0);
  selector_free(selector);
  for (uint32_t i = 1; i < tree.node_count; i++)
    if (tree.nodes[i].self_weight > 0) at = i;
  for (uint32_t i = 0; i < count; i++, at = tree.nodes[at].parent)
    assert_string_equal(tree.functions[tree.nodes[at].function].name, names[i]);
  assert_int_equal(at, 0);
}

static void a_file_names_the_samples_of_the_board_that_sent_it(void **state) {
  (void)state;
  char dir[] = "/tmp/naming_test.XXXXXX", error[256] = "";
  const char *name = "a_function_to_be_named";
  struct debug_store *debug = NULL;
  struct query_source source = {0};
  struct own_file own = {0};
  struct arena arena;
  if (!find_own_file(&own)) skip(); /* linked without a build-id */
  assert_non_null(mkdtemp(dir));
  if (debug_store_open(dir, &debug, error, sizeof error) != 0) fail_msg("%s", error);
  if (symbolizer_open(debug, &source.symbolizer, error, sizeof error) != 0) fail_msg("%s", error);
  if (store_open(dir, &source.store, error, sizeof error) != 0) fail_msg("%s", error);
  arena_init(&arena, 64 << 20);
  append_sample(source.store, "b1", &own);
  append_sample(source.store, "b2", &own);
  assert_int_equal(weight_of(&source, &arena, "", name), 0);
  send_own_file(debug, &own);
  struct span id = span_of(own.build_id, own.build_id_len);
  assert_int_equal(symbolizer_prepare(source.symbolizer, "b1", id), 0);
  assert_int_equal(weight_of(&source, &arena, "{board=\"b1\"}", name), 10);
  assert_true(symbolizer_settle(source.symbolizer, 20000));
  assert_string_equal(quality_of(&source, &arena, name), "dwarf");
  assert_string_equal(quality_of(&source, &arena, "tool+0xffffffffffff"), "none");
  assert_int_equal(weight_of(&source, &arena, "{board=\"b1\"}", "tool+0xffffffffffff"), 10);
  static const char *const stack[] = {"an_inner_one",
                                      "a_middle_one",
                                      "a_function_with_two_inlined",
                                      "a_function_to_be_named",
                                      "a_function_to_be_named",
                                      "an_inner_one",
                                      "a_middle_one",
                                      "a_function_with_two_inlined",
                                      "tool+0xffffffffffff"};
  check_stack(&source, &arena, stack, sizeof stack / sizeof *stack);
  assert_int_equal(weight_of(&source, &arena, "{board=\"b2\"}", name), 0);
  assert_int_equal(weight_of(&source, &arena, "", name), 10);
  store_close(source.store);
  symbolizer_close(source.symbolizer);
  debug_store_close(debug);
  arena_fini(&arena);
  remove_dir(dir);
}

/* How many addresses were looked up so far. */
static uint64_t count_lookups(void) {
  struct buf text = {0};
  uint64_t sum = 0;
  lookup_counts_print(&text);
  for (const char *line = buf_text(&text); line != NULL && *line != '\0';) {
    const char *end = strchr(line, '\n');
    if (*line != '#') sum += strtoull(strrchr(strndupa(line, (size_t)(end - line)), ' '), NULL, 10);
    line = end + 1;
  }
  buf_fini(&text);
  return sum;
}

/* Three boards with the same program; one of them sends its own file, and is named separately from
   then on. */
static void boards_that_see_the_same_files_are_named_together(void **state) {
  (void)state;
  char dir[] = "/tmp/naming_test.XXXXXX", error[256] = "";
  const char *name = "a_function_to_be_named", *boards[] = {"b0", "b1", "b2"};
  struct debug_store *debug = NULL;
  struct query_source source = {0};
  struct own_file own = {0};
  struct arena arena;
  if (!find_own_file(&own)) skip();
  assert_non_null(mkdtemp(dir));
  if (debug_store_open(dir, &debug, error, sizeof error) != 0) fail_msg("%s", error);
  if (symbolizer_open(debug, &source.symbolizer, error, sizeof error) != 0) fail_msg("%s", error);
  if (store_open(dir, &source.store, error, sizeof error) != 0) fail_msg("%s", error);
  arena_init(&arena, 64 << 20);
  for (unsigned i = 0; i < 3; i++) append_sample(source.store, boards[i], &own);
  uint64_t before = count_lookups();
  assert_int_equal(weight_of(&source, &arena, "", name), 0);
  uint64_t once = count_lookups() - before;
  assert_in_range(once, 1, 5); /* of five frames, some share an address */
  send_own_file(debug, &own);  /* b1's */
  struct span id = span_of(own.build_id, own.build_id_len);
  assert_int_equal(symbolizer_prepare(source.symbolizer, "b1", id), 0);
  assert_true(symbolizer_settle(source.symbolizer, 20000));
  before = count_lookups();
  assert_int_equal(weight_of(&source, &arena, "", name), 10);
  assert_int_equal(count_lookups() - before, 3 * once);
  store_close(source.store);
  symbolizer_close(source.symbolizer);
  debug_store_close(debug);
  arena_fini(&arena);
  remove_dir(dir);
}

/* Each lookup starts at the last position in its files: two modules have separate positions. */
static void two_modules_of_one_stack_have_their_own_names(void **state) {
  (void)state;
  char dir[] = "/tmp/naming_test.XXXXXX", error[256] = "";
  struct debug_store *debug = NULL;
  struct query_source source = {0};
  struct own_file own = {0}, library = {.wanted = "libc.so"};
  struct window window;
  struct arena arena;
  void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!find_own_file(&own) || handle == NULL || !find_own_file(&library)) skip();
  uint64_t sort = (uint64_t)(uintptr_t)dlsym(handle, "qsort_r") - library.load_address;
  uint64_t ours = (uint64_t)(uintptr_t)a_function_to_be_named - own.load_address;
  dlclose(handle);
  const uint64_t frames[][2] = {{0, ours}, {2, sort}, {0, ours + 1}, {2, sort + 1}};
  assert_non_null(mkdtemp(dir));
  if (debug_store_open(dir, &debug, error, sizeof error) != 0) fail_msg("%s", error);
  if (symbolizer_open(debug, &source.symbolizer, error, sizeof error) != 0) fail_msg("%s", error);
  if (store_open(dir, &source.store, error, sizeof error) != 0) fail_msg("%s", error);
  arena_init(&arena, 64 << 20);
  window_init(&window, "own", 1);
  window.modules[0].id = span_of(own.build_id, own.build_id_len);
  window.modules[2].id = span_of(library.build_id, library.build_id_len);
  window_add(&window, frames, 4, 1, 10);
  window_append(&window, source.store, "b1", 1, NOON_MS);
  send_own_file(debug, &own), send_own_file(debug, &library);
  assert_int_equal(symbolizer_prepare(source.symbolizer, "b1", window.modules[0].id), 0);
  assert_int_equal(symbolizer_prepare(source.symbolizer, "b1", window.modules[2].id), 0);
  assert_true(symbolizer_settle(source.symbolizer, 20000));
  static const char *const stack[] = {"qsort_r", "a_function_to_be_named", "qsort_r",
                                      "a_function_to_be_named"};
  check_stack(&source, &arena, stack, 4);
  store_close(source.store);
  symbolizer_close(source.symbolizer);
  debug_store_close(debug);
  arena_fini(&arena);
  remove_dir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_names_the_samples_of_the_board_that_sent_it),
      cmocka_unit_test(boards_that_see_the_same_files_are_named_together),
      cmocka_unit_test(two_modules_of_one_stack_have_their_own_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
