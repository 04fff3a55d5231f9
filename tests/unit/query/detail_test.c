/* SPDX-License-Identifier: Apache-2.0 */
/* One function in detail: in every breakdown its self time equals that of the function table. */
#include "world.h"

#include "names/symbolizer.h"
#include "query/detail.h"
#include "translators/translator_pool.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

/* A list of symbols, as `nm -n` prints it: the worker names tool's addresses by it. */
static const char symbols[] = "0000000000001000 T start\n"
                              "000000005032011c T walk\n"
                              "000000005032016c T leave\n"
                              "0000000050320200 T other\n";

static const uint64_t walking[][2] = {{0, 0x1010}, {0, 0x5032014e}};
static const uint64_t recursing[][2] = {
    {0, 0x1010}, {0, 0x50320120}, {0, 0x50320121}, {0, 0x5032016b}};
static const uint64_t called[][2] = {{0, 0x1010}, {0, 0x50320130}, {2, 0x77}};
static const uint64_t leaving[][2] = {{0, 0x1010}, {0, 0x5032016c}};

struct named_world {
  struct world *world;
  struct debug_store *debug;
  struct query_source source;
};

static int set_up(void **state) {
  struct named_world *named = calloc(1, sizeof *named);
  void *world = NULL;
  char error[256] = "", dir[128];
  assert_int_equal(world_set_up(&world), 0);
  named->world = world;
  snprintf(dir, sizeof dir, "%s/debug", named->world->dir);
  assert_int_equal(mkdir(dir, 0700), 0);
  assert_int_equal(debug_store_open(dir, &named->debug, error, sizeof error), 0);
  assert_int_equal(symbolizer_open(named->debug, &named->source.symbolizer, error, sizeof error),
                   0);
  named->source.store = named->world->store;
  const struct debug_piece piece = {.id = span_of("\x01\x02\x03\x04", 4),
                                    .total = sizeof symbols - 1,
                                    .bytes = span_of(symbols, sizeof symbols - 1)};
  if (debug_store_write(named->debug, &piece, error, sizeof error) < 0) fail_msg("%s", error);
  assert_int_equal(symbolizer_prepare(named->source.symbolizer, NULL, piece.id), 0);
  *state = named;
  return 0;
}

static int tear_down(void **state) {
  struct named_world *named = *state;
  void *world = named->world;
  symbolizer_close(named->source.symbolizer);
  debug_store_close(named->debug);
  free(named);
  return world_tear_down(&world);
}

static void append(struct named_world *named, const char *board, const char *thread) {
  static uint64_t run = 1;
  struct window window;
  window_init(&window, "tool", run);
  window.thread.name = thread;
  window_add(&window, walking, 2, 4, 400);
  window_add(&window, recursing, 4, 3, 300);
  window_add(&window, called, 3, 2, 200);
  window_add(&window, leaving, 2, 1, 100);
  window_add(&window, walking, 2, 1, 50);
  window_make_lr(&window);
  window_append(&window, named->world->store, board, 1, NOON_MS + 10000 * run++);
}

/* Unsampled time, kernel time by its clock, and stacks that end early. */
static void append_dark(struct named_world *named, const char *board, uint64_t weight) {
  static const uint64_t kernel[][2] = {{1, 0}}, pseudo[][2] = {{3, 0}};
  static const uint64_t short_leaf[][2] = {{3, 0}, {2, 0x77}};
  static const uint64_t short_walk[][2] = {{3, 0}, {0, 0x5032014e}, {2, 0x77}};
  static uint64_t run = 1000;
  struct window window;
  window_init(&window, "tool", run);
  window.modules[3].path = "[unsampled]";
  window_add(&window, pseudo, 1, 0, weight);
  window_add(&window, kernel, 1, 0, 250);
  window_append(&window, named->world->store, board, 1, NOON_MS + 10000 * run++);
  window_init(&window, "tool", run);
  window.modules[3].path = "[no table]";
  window_add(&window, short_leaf, 2, 3, 300);
  window_add(&window, short_walk, 3, 1, 100);
  window_append(&window, named->world->store, board, 1, NOON_MS + 10000 * run++);
}

static int ask(struct named_world *named, const char *function, const char *module,
               struct query_detail *ret) {
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  const struct detail_question question = {function, module};
  return query_detail(&named->source, &range, &question, &named->world->arena, ret);
}

static wide_sum sum_self(const struct detail_rows *rows) {
  wide_sum sum = 0;
  for (uint32_t i = 0; i < rows->count; i++) sum += rows->rows[i].self;
  return sum;
}

static void assert_sound(const struct query_detail *detail) {
  wide_sum offsets = 0;
  uint64_t samples = 0;
  for (uint32_t i = 0; i < detail->offset_count; i++) {
    offsets += detail->offsets[i].weight;
    samples += detail->offsets[i].count;
  }
  assert_int_equal(offsets, detail->self);
  assert_int_equal(samples, detail->self_count);
  assert_int_equal(sum_self(&detail->definitions), detail->self);
  assert_int_equal(sum_self(&detail->lines), detail->self);
  assert_int_equal(sum_self(&detail->builds), detail->self);
  assert_int_equal(sum_self(&detail->boards), detail->self);
  assert_int_equal(sum_self(&detail->threads), detail->self);
}

static void offsets_count_from_the_functions_start(void **state) {
  struct named_world *named = *state;
  struct query_detail detail;
  append(named, "b1", "main");
  assert_int_equal(ask(named, "walk", NULL, &detail), 0);
  assert_sound(&detail);
  assert_int_equal(detail.offset_count, 2);
  assert_int_equal(detail.offsets[0].offset, 0x32); /* 0x5032014e in 0x5032011c + 0x50 */
  assert_int_equal(detail.offsets[0].weight, 450);
  assert_string_equal(detail.offsets[0].function, "walk");
  assert_string_equal(detail.offsets[0].build_id, "01020304");
  assert_string_equal(detail.offsets[0].module, "tool");
  assert_int_equal(detail.offsets[1].offset, 0x4f); /* its last byte; the next belongs to leave */
  assert_int_equal(ask(named, "leave", NULL, &detail), 0);
  assert_int_equal(detail.offsets[0].offset, 0);
  assert_int_equal(detail.self, 100);
}

static void sums_are_those_of_the_function_table(void **state) {
  struct named_world *named = *state;
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  struct view_top_row *rows;
  uint32_t count;
  append(named, "b1", "main");
  append(named, "b2", "worker");
  append(named, "b2", "main");
  assert_int_equal(query_tree(&named->source, &range, &named->world->arena, &tree), 0);
  assert_int_equal(view_top(&tree, &named->world->arena, &rows, &count), 0);
  assert_int_equal(count, 4);
  for (uint32_t i = 0; i < count; i++) {
    struct query_detail detail;
    assert_int_equal(ask(named, tree.functions[rows[i].function].name, NULL, &detail), 0);
    assert_sound(&detail);
    assert_int_equal(detail.self, rows[i].self_weight);
    assert_int_equal(detail.total, rows[i].total_weight);
    assert_int_equal(detail.self_count, rows[i].self_count);
    assert_int_equal(detail.total_count, rows[i].total_count);
    assert_int_equal(detail.whole.total_weight, tree.total_weight);
    assert_int_equal((int)(1e6 * detail.self_share.low), (int)(1e6 * rows[i].self.low));
    assert_int_equal((int)(1e6 * detail.total_share.high), (int)(1e6 * rows[i].total.high));
  }
}

/* For one board, then for two that differ: with time that any function may have. */
static void intervals_are_those_of_the_function_table(void **state) {
  struct named_world *named = *state;
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  for (unsigned boards = 1; boards <= 2; boards++) {
    struct view_tree tree;
    struct view_top_row *rows;
    uint32_t count;
    append(named, boards == 1 ? "b1" : "b2", "main");
    append_dark(named, boards == 1 ? "b1" : "b2", boards * 500);
    assert_int_equal(query_tree(&named->source, &range, &named->world->arena, &tree), 0);
    assert_int_equal(view_top(&tree, &named->world->arena, &rows, &count), 0);
    for (uint32_t i = 0; i < count; i++) {
      struct query_detail detail;
      const char *name = tree.functions[rows[i].function].name;
      if (name[0] == '[') continue; /* of no code */
      assert_int_equal(ask(named, name, NULL, &detail), 0);
      assert_int_equal((int)(1e9 * detail.self_share.low), (int)(1e9 * rows[i].self.low));
      assert_int_equal((int)(1e9 * detail.self_share.high), (int)(1e9 * rows[i].self.high));
      assert_int_equal((int)(1e9 * detail.total_share.low), (int)(1e9 * rows[i].total.low));
      if (boards == 1) /* of two the short stacks' parts vary each by itself */
        assert_int_equal((int)(1e9 * detail.total_share.high), (int)(1e9 * rows[i].total.high));
      assert_int_equal(detail.lack, rows[i].lack);
    }
  }
}

static void boards_threads_and_builds_have_theirs(void **state) {
  struct named_world *named = *state;
  struct query_detail detail;
  append(named, "b1", "main");
  append(named, "b2", "worker");
  append(named, "b2", "main");
  assert_int_equal(ask(named, "walk", NULL, &detail), 0);
  assert_string_equal(detail.basis.unit, "boards");
  assert_int_equal(detail.basis.units, 2);
  assert_int_equal(detail.boards.count, 2);
  assert_string_equal(detail.boards.rows[0].name, "b2");
  assert_int_equal(detail.boards.rows[0].self, 1500);
  assert_int_equal(detail.boards.rows[0].total, 1900);
  assert_string_equal(detail.threads.rows[0].name, "main");
  assert_int_equal(detail.threads.rows[0].total, 1900);
  assert_int_equal(detail.builds.count, 1);
  assert_int_equal(detail.builds.rows[0].total, 3 * 950);
  assert_int_equal(detail.definitions.count, 1);
  assert_string_equal(detail.definitions.rows[0].module, "tool");
}

static void what_has_no_symbol_is_a_function_of_its_own(void **state) {
  struct named_world *named = *state;
  struct query_detail detail;
  append(named, "b1", "main");
  assert_int_equal(ask(named, "lib.so+0x77", "lib.so", &detail), 0);
  assert_sound(&detail);
  assert_int_equal(detail.self, 200);
  assert_int_equal(detail.offsets[0].offset, 0);
  assert_int_equal(ask(named, "lib.so+0x77", "tool", &detail), -ENOENT);
}

static void who_is_not_there_has_neighbours(void **state) {
  struct named_world *named = *state;
  struct query_detail detail;
  append(named, "b1", "main");
  assert_int_equal(ask(named, "wakl", NULL, &detail), -ENOENT);
  assert_true(detail.near_count > 0);
  assert_string_equal(detail.near_names[0], "walk");
  assert_int_equal(ask(named, "root", NULL, &detail), -ENOENT);
}

static struct translator_pool *open_translators(struct named_world *named, const char *rules) {
  struct translator_pool *pool;
  char path[128], error[256];
  snprintf(path, sizeof path, "%s/rules", named->world->dir);
  FILE *file = fopen(path, "w");
  assert_true(file != NULL && fputs(rules, file) >= 0 && fclose(file) == 0);
  const struct translator_parts parts = {.rules_path = path};
  if (translator_pool_open(&parts, &pool, error, sizeof error) != 0) fail_msg("%s", error);
  symbolizer_set_translators(named->source.symbolizer, pool);
  return pool;
}

static void close_translators(struct named_world *named, struct translator_pool *pool) {
  symbolizer_set_translators(named->source.symbolizer, NULL);
  translator_pool_close(pool);
}

/* Two functions of one name in two files are two rows, whatever the source of the name. */
static void a_function_that_a_translator_names_is_of_the_file_of_its_line(void **state) {
  static const char rules[] = "* *tool any at-end sed -e 's|.*4e$|walk\\n/src/dsp.c:7|;t' -e "
                              "'s|.*|walk\\n/src/other.c:9|'\n";
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct named_world *named = *state;
  struct view_tree tree;
  unsigned of_dsp = 0, of_other = 0;
  struct translator_pool *pool = open_translators(named, rules);
  append(named, "b1", "main");
  assert_int_equal(query_tree(&named->source, &range, &named->world->arena, &tree), 0);
  for (uint32_t i = 1; i < tree.function_count; i++) {
    const struct view_function *function = &tree.functions[i];
    if (strcmp(function->name, "walk") != 0) continue;
    of_dsp += function->file != NULL && strcmp(function->file, "/src/dsp.c") == 0;
    of_other += function->file != NULL && strcmp(function->file, "/src/other.c") == 0;
  }
  assert_int_equal(of_dsp, 1);
  assert_int_equal(of_other, 1);
  close_translators(named, pool);
}

/* One translator reports where a function begins, one does not: then the file is used, if it
   exists. */
static void offsets_are_a_translators_the_files_or_not_known(void **state) {
  static const char rules[] =
      "* *tool any at-end sed -e s/.*5032014e/dsp_walk+0x2e/ -e t -e s/.*/plain/\n"
      "* *lib.so any at-end sed s/.*/vendor/\n";
  struct named_world *named = *state;
  struct query_detail detail;
  struct translator_pool *pool = open_translators(named, rules);
  append(named, "b1", "main");
  assert_int_equal(ask(named, "dsp_walk", NULL, &detail), 0);
  assert_sound(&detail);
  assert_int_equal(detail.offset_count, 1);
  assert_true(detail.offsets[0].has_offset);
  assert_int_equal(detail.offsets[0].offset, 0x2e);
  assert_int_equal(detail.offsets[0].address, 0x5032014e);
  assert_int_equal(ask(named, "plain", NULL, &detail), 0);
  assert_sound(&detail);
  assert_int_equal(detail.offsets[0].address, 0x5032016b);
  assert_int_equal(detail.offsets[0].offset, 0x4f);
  assert_int_equal(ask(named, "vendor", NULL, &detail), 0);
  assert_sound(&detail);
  assert_false(detail.offsets[0].has_offset);
  assert_int_equal(detail.offsets[0].address, 0x77);
  close_translators(named, pool);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(offsets_count_from_the_functions_start),
      TEST(sums_are_those_of_the_function_table),
      TEST(intervals_are_those_of_the_function_table),
      TEST(boards_threads_and_builds_have_theirs),
      TEST(what_has_no_symbol_is_a_function_of_its_own),
      TEST(who_is_not_there_has_neighbours),
      TEST(offsets_are_a_translators_the_files_or_not_known),
      TEST(a_function_that_a_translator_names_is_of_the_file_of_its_line),
  };
  signal(SIGPIPE, SIG_IGN); /* translators require that */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
