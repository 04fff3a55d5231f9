/* SPDX-License-Identifier: Apache-2.0 */
/* How stacks ended, from a batch through the store into an answer, where all weight still adds up.
 */
#include "world.h"

#include "common/json.h"
#include "view/diff.h"
#include "view/export.h"
#include "view/stacks.h"
#include "view/table_json.h"

enum { TOOL = 0, KERNEL, LIB, ANON };

/* Modules of a batch beside those of the fixture. */
static const char *const pseudo[] = {"[truncated]", "[no table]", "[bad stack]", "[unsampled]"};
enum { TRUNCATED = 4, NO_TABLE, BAD, UNSAMPLED, MODULES };

static struct window window; /* of the next batch */

static void append(struct world *world, uint64_t seq) {
  static struct batch_module modules[MODULES];
  memcpy(modules, window.modules, sizeof window.modules);
  for (unsigned i = 0; i < sizeof pseudo / sizeof *pseudo; i++)
    modules[TRUNCATED + i] = (struct batch_module){{NULL, 0}, pseudo[i], 0, MODULE_PSEUDO};
  window.batch.modules = modules;
  window.batch.module_count = MODULES;
  window_append(&window, world->store, "b1", seq, NOON_MS + seq * 10000);
}

static void begin(uint32_t marks) {
  window_init(&window, "tool", 1);
  window.target.marks = marks;
}

/* COUNT samples of 10 each: outermost first, those with a module of UINT64_MAX are left out. */
static void add(uint64_t root, uint64_t outer, uint64_t count) {
  const uint64_t stack[][2] = {{root, 0}, {outer, 0x100}, {TOOL, 0x200}, {TOOL, 0x300}};
  bool has_root = root != UINT64_MAX;
  window_add(&window, has_root ? stack : stack + 1, has_root ? 4 : 3, count, count * 10);
}

static void add_all(void) {
  static const uint64_t rest[][2] = {{UNSAMPLED, 0}}, kernel[][2] = {{KERNEL, 0}};
  static const uint64_t lone[][2] = {{TOOL, 0x300}};
  add(UINT64_MAX, TOOL, 60);
  add(TRUNCATED, TOOL, 10);
  add(NO_TABLE, LIB, 15);
  add(NO_TABLE, ANON, 5);
  add(BAD, LIB, 10);
  window_add(&window, kernel, 1, 0, 500); /* measured by clocks */
  window_add(&window, rest, 1, 3, 70);    /* of a histogram: no stack */
  window_add(&window, lone, 1, 4, 40);
  window_make_lr(&window);
}

static struct view_tree tree_of(struct world *world) {
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  return tree;
}

static const struct view_top_row *row_of(struct world *world, const struct view_tree *tree,
                                         const char *name) {
  struct view_top_row *rows;
  uint32_t count;
  assert_int_equal(view_top(tree, &world->arena, &rows, &count), 0);
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(tree->functions[rows[i].function].name, name) == 0) return &rows[i];
  return NULL;
}

static void shares_are_of_the_sampled_stacks(void **state) {
  struct world *world = *state;
  begin(MARK_ENDS_TOLD);
  add_all();
  append(world, 1);
  struct view_tree tree = tree_of(world);
  assert_int_equal(tree.total_weight, 1000 + 500 + 70 + 40);
  assert_int_equal(stacks_total(&tree), 1000);
  static const wide_sum wanted[STACK_END_COUNT] = {0, 600, 100, 200, 100};
  assert_memory_equal(tree.stacks_weight, wanted, sizeof wanted);
  assert_int_equal(tree.mark_count, 0); /* known stack ends give no mark */
}

static void where_ends_are_not_told_only_the_short_ones_are_known(void **state) {
  struct world *world = *state;
  begin(0);
  add_all();
  append(world, 1);
  struct view_tree tree = tree_of(world);
  static const wide_sum wanted[STACK_END_COUNT] = {600, 0, 100, 200, 100};
  assert_memory_equal(tree.stacks_weight, wanted, sizeof wanted);
}

static void old_windows_and_new_ones_are_told_apart(void **state) {
  struct world *world = *state;
  begin(MARK_STACKS_CUT);
  add(UINT64_MAX, TOOL, 30);
  append(world, 1);
  begin(MARK_ENDS_TOLD);
  add(UINT64_MAX, TOOL, 70);
  append(world, 2);
  struct view_tree tree = tree_of(world);
  assert_int_equal(tree.stacks_weight[STACK_UNTOLD], 300);
  assert_int_equal(tree.stacks_weight[STACK_COMPLETE], 700);
  assert_int_equal(tree.mark_count, 1); /* the old batch's */
}

static void a_series_of_two_targets_tells_when_both_do(void **state) {
  struct world *world = *state;
  for (unsigned both = 0; both < 2; both++) {
    struct batch_target targets[2];
    static const struct batch_thread threads[2] = {{0, "main"}, {1, "main"}};
    begin(MARK_ENDS_TOLD);
    add(UINT64_MAX, TOOL, 10);
    add(UINT64_MAX, TOOL, 20);
    targets[0] = targets[1] = window.target;
    targets[1].marks = both ? MARK_ENDS_TOLD : MARK_PAUSED;
    window.samples[1].thread = 1;
    window.batch.targets = targets;
    window.batch.target_count = 2;
    window.batch.threads = threads;
    window.batch.thread_count = 2;
    append(world, 1 + both);
    struct view_tree tree = tree_of(world);
    assert_int_equal(tree.stacks_weight[STACK_UNTOLD], 300);
    assert_int_equal(tree.stacks_weight[STACK_COMPLETE], both ? 300 : 0);
    assert_int_equal(tree.mark_count, 1);
  }
}

static void an_end_is_no_function_and_all_weight_adds_up(void **state) {
  struct world *world = *state;
  begin(MARK_ENDS_TOLD);
  add_all();
  append(world, 1);
  struct view_tree tree = tree_of(world);
  struct view_top_row *rows;
  uint32_t count;
  uint64_t self = 0;
  assert_int_equal(view_top(&tree, &world->arena, &rows, &count), 0);
  for (uint32_t i = 0; i < count; i++) {
    self += wide_sum_cut(rows[i].self_weight);
    assert_int_equal(tree.functions[rows[i].function].end, STACK_UNTOLD);
  }
  assert_int_equal(self, tree.total_weight);
  assert_int_equal(row_of(world, &tree, "tool+0x300")->self_weight, 1040);
  assert_int_equal(row_of(world, &tree, "tool+0x200")->total_weight, 1000);
  assert_int_equal(row_of(world, &tree, "tool+0x100")->total_weight, 700);
  assert_null(row_of(world, &tree, "[truncated]"));
  static const struct view_diff_options options = {.units = {"run", 1, 1}};
  struct view_diff diff;
  assert_int_equal(view_diff(&tree, &tree, &options, &world->arena, &diff), 0);
  for (uint32_t i = 0; i < diff.count; i++)
    assert_int_equal(stack_end_of(diff.rows[i].module), STACK_UNTOLD);
}

static void stacks_that_are_drawn_and_exported_begin_with_their_end(void **state) {
  struct world *world = *state;
  struct buf text = {0};
  begin(MARK_ENDS_TOLD);
  add(UINT64_MAX, TOOL, 60);
  add(NO_TABLE, LIB, 15);
  append(world, 1);
  struct view_tree tree = tree_of(world);
  assert_int_equal(view_folded(&tree, &world->arena, &text), 0);
  assert_non_null(strstr(buf_text(&text), "[no table];lib.so+0x100;tool+0x200;tool+0x300 150\n"));
  assert_non_null(strstr(buf_text(&text), "tool+0x100;tool+0x200;tool+0x300 600\n"));
  buf_clear(&text);
  const struct view_origin origin = {.title = "tool"};
  assert_int_equal(view_speedscope(&tree, &origin, &world->arena, &text), 0);
  assert_non_null(strstr(buf_text(&text), "\"name\":\"[no table]\""));
  buf_fini(&text);
}

/* A batch may have any content: weight of a pseudo-frame itself is shown. */
static void a_strangers_weight_in_an_end_is_not_lost(void **state) {
  struct world *world = *state;
  static const uint64_t bare[][2] = {{BAD, 0}}, inner[][2] = {{TOOL, 0x100}, {TRUNCATED, 0}};
  begin(MARK_ENDS_TOLD);
  window_add(&window, bare, 1, 2, 20);
  window_add(&window, inner, 2, 3, 30);
  window.modules[LIB].path = "[no table]"; /* an ELF file of that name */
  add(LIB, LIB, 4);
  append(world, 1);
  struct view_tree tree = tree_of(world);
  assert_int_equal(row_of(world, &tree, "[bad stack]")->self_weight, 20);
  assert_int_equal(row_of(world, &tree, "[truncated]")->self_weight, 30);
  assert_int_equal(row_of(world, &tree, "[no table]")->total_weight, 40);
  static const wide_sum wanted[STACK_END_COUNT] = {[STACK_COMPLETE] = 70, [STACK_BAD] = 20};
  assert_memory_equal(tree.stacks_weight, wanted, sizeof wanted);
}

static void short_stacks_end_in_the_module_of_their_outermost_frame(void **state) {
  struct world *world = *state;
  struct stacks_row *rows;
  uint32_t count;
  begin(MARK_ENDS_TOLD);
  add_all();
  append(world, 1);
  struct view_tree tree = tree_of(world);
  assert_int_equal(stacks_ends_in(&tree, &world->arena, &rows, &count), 0);
  static const struct stacks_row wanted[] = {{STACK_NO_TABLE, "lib.so", 150},
                                             {STACK_BAD, "lib.so", 100},
                                             {STACK_TRUNCATED, "tool", 100},
                                             {STACK_NO_TABLE, "[anon]", 50}};
  assert_int_equal(count, 4);
  for (unsigned i = 0; i < 4; i++) {
    assert_string_equal(rows[i].module, wanted[i].module);
    assert_int_equal(rows[i].end, wanted[i].end);
    assert_int_equal(rows[i].weight, wanted[i].weight);
    assert_true(strlen(stacks_why(&rows[i])) > 0);
    assert_true(strlen(stacks_meaning(rows[i].end)) > 0);
  }
  assert_non_null(strstr(stacks_why(&rows[3]), "run time"));
}

static void the_list_of_modules_is_bounded(void **state) {
  struct world *world = *state;
  struct stacks_row *rows;
  uint32_t count;
  for (uint64_t i = 0; i < 2 * STACKS_ENDS_IN_MAX; i++) {
    char path[32];
    snprintf(path, sizeof path, "/lib/%u.so", (unsigned)i);
    begin(MARK_ENDS_TOLD);
    window.modules[LIB].path = path;
    add(NO_TABLE, LIB, 1 + i);
    append(world, 1 + i);
  }
  struct view_tree tree = tree_of(world);
  assert_int_equal(stacks_ends_in(&tree, &world->arena, &rows, &count), 0);
  assert_int_equal(count, STACKS_ENDS_IN_MAX);
  assert_string_equal(rows[0].module, "19.so");
  assert_int_equal(rows[0].weight, 200);
}

static void an_answer_says_all_of_it(void **state) {
  struct world *world = *state;
  struct buf text = {0};
  struct json json;
  begin(MARK_ENDS_TOLD);
  add(UINT64_MAX, TOOL, 3);
  add(NO_TABLE, LIB, 1);
  append(world, 1);
  struct view_tree tree = tree_of(world);
  json_init(&json, &text, SIZE_MAX);
  json_open(&json, '{');
  assert_int_equal(table_json_stacks(&json, &tree, &world->arena), 0);
  json_close(&json, '}');
  const char *body = buf_text(&text);
  assert_non_null(strstr(body, "{\"stacks\":{\"weight\":40,\"not_told\":0,\"complete\":0.75,"
                               "\"truncated\":0,\"no_table\":0.25,\"bad\":0,\"other_stack\":0,"
                               "\"meanings\":{"
                               "\"no_table\":\"ended in code without frame pointers, whose unwind "
                               "table was not made in time"));
  assert_non_null(strstr(
      body, "\"ends_in\":[{\"module\":\"lib.so\",\"end\":\"no_table\","
            "\"weight\":10,\"share\":0.25,\"why\":\"has no unwind table that was made in time"));
  buf_fini(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(shares_are_of_the_sampled_stacks),
      TEST(where_ends_are_not_told_only_the_short_ones_are_known),
      TEST(old_windows_and_new_ones_are_told_apart),
      TEST(a_series_of_two_targets_tells_when_both_do),
      TEST(an_end_is_no_function_and_all_weight_adds_up),
      TEST(stacks_that_are_drawn_and_exported_begin_with_their_end),
      TEST(a_strangers_weight_in_an_end_is_not_lost),
      TEST(short_stacks_end_in_the_module_of_their_outermost_frame),
      TEST(the_list_of_modules_is_bounded),
      TEST(an_answer_says_all_of_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
