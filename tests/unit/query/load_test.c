/* SPDX-License-Identifier: Apache-2.0 */
/* The same samples by any key: every grouping adds up to the same total. */
#include "world.h"

#include "common/cutoff.h"
#include "query/load.h"
#include "view/interval.h"

#include <errno.h>
#include <math.h>

static const uint64_t hot[][2] = {{0, 0x10}};
static const uint64_t library[][2] = {{0, 0x10}, {2, 0x30}};
static const uint64_t kernel[][2] = {{0, 0x10}, {1, 0}};

static void append(struct world *world, const char *board, const char *service, const char *thread,
                   uint64_t weight) {
  static uint64_t run = 1;
  struct window window;
  window_init(&window, service, run);
  window.thread.name = thread;
  window_add(&window, hot, 1, 3, weight);
  window_add(&window, library, 2, 2, 2 * weight);
  window_add(&window, kernel, 2, 0, 5);
  window_append(&window, world->store, board, 1, NOON_MS + 10000 * run++);
}

static void fill(struct world *world) {
  append(world, "b1", "shop", "main", 100);
  append(world, "b1", "shop", "worker", 70);
  append(world, "b2", "shop", "worker", 30);
  append(world, "b2", "till", "main", 11);
}

static struct query_load load_of(struct world *world, const char *match, const char *by) {
  const struct query_source source = {.store = world->store};
  struct query_range range = {.from_ms = 0, .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct selector *selector = NULL;
  struct query_load load;
  char why[256];
  if (match != NULL) assert_int_equal(selector_parse(match, &selector, why, sizeof why), 0);
  range.selector = selector;
  assert_int_equal(query_load(&source, &range, by, &world->arena, &load), 0);
  selector_free(selector);
  return load;
}

static const struct query_load_row *row_of(const struct query_load *load, const char *name) {
  for (uint32_t i = 0; i < load->count; i++)
    if (strcmp(load->rows[i].name, name) == 0) return &load->rows[i];
  fail_msg("no row %s", name);
  return NULL;
}

static uint64_t weight_of(const struct query_load *load, const char *name) {
  return wide_sum_cut(row_of(load, name)->weight);
}

static void rows_by_anything_add_up_to_the_total(void **state) {
  struct world *world = *state;
  static const char *const ways[] = {"function", "module", "thread",   "service", "board",
                                     "exe",      "arch",   "build_id", "site"};
  fill(world);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    struct query_load load = load_of(world, NULL, ways[i]);
    wide_sum weight = 0;
    uint64_t count = 0;
    for (uint32_t j = 0; j < load.count; j++) {
      weight += load.rows[j].weight;
      count += load.rows[j].count;
      assert_true(j == 0 || load.rows[j - 1].weight >= load.rows[j].weight);
      assert_true(load.rows[j].share.low <= load.rows[j].share.share);
      assert_true(load.rows[j].share.high >= load.rows[j].share.share);
    }
    assert_int_equal(weight, 3 * (100 + 70 + 30 + 11) + 4 * 5);
    assert_int_equal(weight, load.whole.total_weight);
    assert_int_equal(count, 4 * 5);
    assert_int_equal(count, load.whole.total_count);
    assert_int_equal(load.is_unknown, strcmp(ways[i], "site") == 0);
  }
}

static void each_row_has_its_own(void **state) {
  struct world *world = *state;
  fill(world);
  struct query_load load = load_of(world, NULL, "thread");
  assert_int_equal(load.count, 2);
  assert_int_equal(weight_of(&load, "main"), 3 * 111 + 10);
  assert_int_equal(weight_of(&load, "worker"), 3 * 100 + 10);
  assert_string_equal(load.basis.unit, "boards");
  assert_int_equal(load.basis.units, 2);
  load = load_of(world, NULL, "board");
  assert_string_equal(load.basis.unit, "samples"); /* a board alone is no sample of boards */
  assert_int_equal(weight_of(&load, "b1"), 3 * 170 + 10);
  load = load_of(world, NULL, "module");
  assert_int_equal(load.count, 3);
  assert_int_equal(weight_of(&load, "tool"), 211);
  assert_int_equal(weight_of(&load, "lib.so"), 422);
  assert_int_equal(weight_of(&load, "[kernel]"), 20);
  load = load_of(world, "{board=\"b2\"}", "service");
  assert_int_equal(weight_of(&load, "shop"), 95);
  assert_int_equal(weight_of(&load, "till"), 38);
}

static void functions_are_those_of_the_table_intervals_too(void **state) {
  struct world *world = *state;
  fill(world);
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.from_ms = 0, .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct query_load load = load_of(world, NULL, "function");
  struct view_tree tree;
  struct view_top_row *rows;
  uint32_t count, with_self = 0;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  assert_int_equal(view_top(&tree, &world->arena, &rows, &count), 0);
  for (uint32_t i = 0; i < count && rows[i].self_weight > 0; i++, with_self++) {
    const struct view_function *function = &tree.functions[rows[i].function];
    const struct query_load_row *row = row_of(&load, function->name);
    assert_int_equal(row->weight, rows[i].self_weight);
    assert_true(fabs(row->share.low - rows[i].self.low) < 1e-12);
    assert_true(fabs(row->share.high - rows[i].self.high) < 1e-12);
  }
  assert_int_equal(load.count, with_self);
  assert_string_equal(load.rows[0].module, "lib.so");
}

/* 1000 of one board: 700 in 70 samples of two threads, 100 of the kernel's, 200 unsampled, both
   under the name of the first thread. */
static void append_dark(struct world *world) {
  static const uint64_t in_kernel[][2] = {{1, 0}}, unsampled[][2] = {{3, 0}};
  struct window window;
  window_init(&window, "shop", 500);
  window.modules[3].path = "[unsampled]";
  window_add(&window, hot, 1, 40, 400);
  window_add(&window, in_kernel, 1, 0, 100);
  window_add(&window, unsampled, 1, 0, 200);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  window_init(&window, "shop", 501);
  window.thread.name = "worker";
  window_add(&window, library, 2, 30, 300);
  window_append(&window, world->store, "b1", 1, NOON_MS + 10000);
}

static void unsampled_time_raises_functions_and_modules(void **state) {
  static const char *const ways[] = {"function", "module"};
  struct world *world = *state;
  append_dark(world);
  /* By hand (view/strata): 80 trials, 0.875 of them sampled; the function has 0.875 of the first
     window and none of the second.  Within 4000 x 0.875 x 0.125, the border 100 x 0.875 / 2. */
  double within = .875 * 4000 * .875 * .125, border = .875 * .875 * 100 * .875 / 2;
  double variance = (within + border) / (700 * 700) * 80 / 79;
  struct view_share hot_share = interval_wilson(.4 / .8, .25 / variance);
  for (unsigned i = 0; i < 2; i++) {
    struct query_load load = load_of(world, NULL, ways[i]);
    const struct query_load_row *row = row_of(&load, i == 0 ? "tool+0x10" : "tool");
    assert_true(fabs(row->share.low - .8 * hot_share.low) < 1e-12);
    assert_true(fabs(row->share.high - (.8 * hot_share.high + .2)) < 1e-12);
    assert_true(fabs(row_of(&load, "[unsampled]")->share.high - .2) < 1e-12);
    struct view_share of_kernel = interval_wilson(.1 / .8, 70 * 800. / 700);
    assert_true(fabs(row_of(&load, "[kernel]")->share.high - .8 * of_kernel.high) < 1e-12);
  }
}

/* Its thread is unknown; the process clock belongs to the service. */
static void time_without_samples_is_any_threads_and_its_services(void **state) {
  struct world *world = *state;
  append_dark(world);
  struct query_load load = load_of(world, NULL, "thread");
  const struct query_load_row *first = row_of(&load, "main"), *worker = row_of(&load, "worker");
  double trials = 70 * 1000. / 700;
  /* The second thread has 0.7 of the second window, and the first thread the clocks' time. */
  double variance = (.7 * 3000 * .7 * .3 + .7 * .7 * 100 * .7 / 2) / (700 * 700) * 100 / 99;
  struct view_share of_first = interval_wilson(.7, trials);
  struct view_share of_worker = interval_wilson(.3, .3 * .7 / variance);
  assert_true(fabs(first->share.low - (of_first.low - .3)) < 1e-12);
  assert_true(fabs(first->share.high - of_first.high) < 1e-12);
  assert_true(fabs(worker->share.low - of_worker.low) < 1e-12);
  assert_true(fabs(worker->share.high - (of_worker.high + .3)) < 1e-12);
  load = load_of(world, NULL, "service");
  assert_true(row_of(&load, "shop")->share.low > .9);
}

/* The tree below each label value equals the load of that value; also for threads of one forest in
 * turn. */
static void a_tree_by_a_label_has_its_loads(void **state) {
  struct world *world = *state;
  static const char *const ways[] = {"thread", "service", "board", "site"};
  const struct query_source source = {.store = world->store};
  struct query_range range = {.from_ms = 0, .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  fill(world);
  append(world, "b1", "shop", "main", 9);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    struct query_load load = load_of(world, NULL, ways[i]);
    struct view_tree tree;
    uint32_t values = 0;
    range.by = ways[i];
    assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
    for (uint32_t at = 1; at < tree.node_count; at++) {
      const struct view_node *node = &tree.nodes[at];
      if (node->parent != 0) continue;
      values++;
      assert_int_equal(node->total_weight, weight_of(&load, tree.functions[node->function].name));
      assert_int_equal(node->self_weight, 0);
    }
    assert_int_equal(values, load.count);
    assert_int_equal(tree.total_weight, load.whole.total_weight);
  }
}

static void an_empty_range_has_no_rows(void **state) {
  struct query_load load = load_of(*state, NULL, "site");
  assert_int_equal(load.count, 0);
  assert_int_equal(load.whole.total_weight, 0);
  assert_false(load.is_unknown);
}

static void a_query_past_its_deadline_ends(void **state) {
  const struct cutoff cutoff = {.deadline_ns = 1};
  struct world *world = *state;
  const struct query_source source = {.store = world->store};
  const struct query_range range = {
      .from_ms = 0, .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU, .cutoff = &cutoff};
  struct query_load load;
  fill(world);
  assert_int_equal(query_load(&source, &range, "board", &world->arena, &load), -ETIMEDOUT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(rows_by_anything_add_up_to_the_total),
      TEST(each_row_has_its_own),
      TEST(functions_are_those_of_the_table_intervals_too),
      TEST(unsampled_time_raises_functions_and_modules),
      TEST(time_without_samples_is_any_threads_and_its_services),
      TEST(a_tree_by_a_label_has_its_loads),
      TEST(an_empty_range_has_no_rows),
      TEST(a_query_past_its_deadline_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
