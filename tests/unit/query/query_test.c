/* SPDX-License-Identifier: Apache-2.0 */
/* Trees, tables and folded stacks from a real store: the sums are those that were stored. */
#include "world.h"

#include "common/cutoff.h"
#include "view/interval.h"

#include <errno.h>

int __real_store_loss_in_range(struct store *store, const struct store_names *boards,
                               uint64_t from_ms, uint64_t to_ms, const struct cutoff *cutoff,
                               uint64_t *loss);
int __wrap_store_loss_in_range(struct store *store, const struct store_names *boards,
                               uint64_t from_ms, uint64_t to_ms, const struct cutoff *cutoff,
                               uint64_t *loss);

static unsigned looks_at_losses; /* each reads all days */

int __wrap_store_loss_in_range(struct store *store, const struct store_names *boards,
                               uint64_t from_ms, uint64_t to_ms, const struct cutoff *cutoff,
                               uint64_t *loss) {
  looks_at_losses++;
  return __real_store_loss_in_range(store, boards, from_ms, to_ms, cutoff, loss);
}

static struct view_tree tree_of(struct world *world, const char *match) {
  const struct query_source source = {.store = world->store};
  struct query_range range = {.from_ms = 0, .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct selector *selector = NULL;
  struct view_tree tree;
  char why[256];
  if (match != NULL && selector_parse(match, &selector, why, sizeof why) != 0) fail_msg("%s", why);
  range.selector = selector;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  selector_free(selector);
  return tree;
}

static const struct view_top_row *row_of(struct world *world, const struct view_tree *tree,
                                         const char *name) {
  struct view_top_row *rows = NULL;
  uint32_t count = 0;
  assert_int_equal(view_top(tree, &world->arena, &rows, &count), 0);
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(tree->functions[rows[i].function].name, name) == 0) return &rows[i];
  fail_msg("no function %s", name);
  return NULL;
}

static void assert_sound(const struct view_tree *tree) {
  uint64_t weight = 0, count = 0;
  assert_true(tree->node_count >= 1 && tree->function_count >= 1);
  assert_int_equal(tree->nodes[0].parent, UINT32_MAX);
  assert_string_equal(tree->functions[tree->nodes[0].function].name, "root");
  wide_sum *below = calloc(tree->node_count, sizeof *below);
  for (uint32_t i = tree->node_count; i-- > 0;) {
    const struct view_node *node = &tree->nodes[i];
    assert_int_equal(node->total_weight, node->self_weight + below[i]);
    assert_true(node->function < tree->function_count);
    weight += wide_sum_cut(node->self_weight);
    count += node->self_count;
    if (i == 0) continue;
    assert_true(node->parent < i);
    below[node->parent] += node->total_weight;
  }
  free(below);
  assert_int_equal(weight, tree->total_weight);
  assert_int_equal(count, tree->total_count);
  for (unsigned i = 0; i < tree->groups.count; i++) weight -= tree->groups.group[i].weight;
  assert_int_equal(weight, 0); /* each is in one group */
}

static const uint64_t kernel_stack[][2] = {{0, 0x100}, {0, 0x200}, {1, 0}};
static const uint64_t recursion[][2] = {{0, 0x100}, {0, 0x300}, {0, 0x300}, {0, 0x300}};

static void an_empty_store_answers_with_a_bare_root(void **state) {
  struct view_tree tree = tree_of(*state, NULL);
  struct view_top_row *rows;
  uint32_t count = 9;
  assert_sound(&tree);
  assert_int_equal(tree.node_count, 1);
  assert_int_equal(tree.total_weight, 0);
  assert_int_equal(view_top(&tree, &((struct world *)*state)->arena, &rows, &count), 0);
  assert_int_equal(count, 0);
}

static void frames_without_a_symbol_are_named_after_their_module(void **state) {
  struct world *world = *state;
  static const uint64_t anonymous[][2] = {{3, 0x7f00}, {1, 0}};
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, kernel_stack, 3, 2, 20);
  window_add(&window, anonymous, 2, 1, 10);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  struct view_tree tree = tree_of(world, NULL);
  assert_sound(&tree);
  assert_int_equal(row_of(world, &tree, "tool+0x200")->total_weight, 20);
  assert_int_equal(row_of(world, &tree, "[kernel]")->self_weight, 30);
  assert_int_equal(row_of(world, &tree, "[anon]+0x7f00")->total_weight, 10);
  uint32_t function = row_of(world, &tree, "tool+0x200")->function;
  assert_string_equal(tree.functions[function].module, "tool");
  assert_null(tree.functions[function].file);
}

/* One stack of one thread in one batch, before and after its rate was lowered. */
static void samples_of_unlike_weight_are_worth_what_the_heavy_ones_tell(void **state) {
  struct world *world = *state;
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, recursion, 2, 600, 600);
  window_add(&window, recursion, 2, 10, 10000);
  window_add(&window, recursion, 2, 400, 400);
  window_add(&window, kernel_stack, 3, 0, 4000);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  struct view_tree tree = tree_of(world, NULL);
  assert_sound(&tree);
  assert_int_equal(tree.total_count, 1010);
  assert_int_equal((int)(10 * evidence_trials(&tree.evidence)), 120);
  const struct view_top_row *row = row_of(world, &tree, "tool+0x300");
  assert_int_equal(row->self_weight, 11000);
  /* The kernel's 4000 had as many trials for their time, without a sample. */
  double trials = 12.1 * 15 / 11;
  assert_int_equal((int)(1000 * row->self.low),
                   (int)(1000 * interval_wilson(11. / 15, trials).low));
}

/* The same samples of one board, and of four that differ. */
static void what_boards_differ_by_is_in_the_interval(void **state) {
  struct world *world = *state;
  static const char *const match[] = {"{service=\"one\"}", "{service=\"four\"}"};
  struct view_share self[2], total[2];
  for (uint64_t board = 0; board < 4; board++) {
    struct window window;
    char name[] = "b0";
    window_init(&window, "one", 10);
    window_add(&window, recursion, 1, 10000, 10000);
    window_add(&window, recursion, 2, 500 + 1000 * board, 500 + 1000 * board);
    window_append(&window, world->store, "b0", board + 1, NOON_MS);
    window.target.service = "four";
    window.batch.counters.run = 20 + board;
    name[1] = (char)('1' + board);
    window_append(&window, world->store, name, 1, NOON_MS);
  }
  for (unsigned i = 0; i < 2; i++) {
    struct view_tree tree = tree_of(world, match[i]);
    assert_sound(&tree);
    assert_int_equal(tree.total_weight, 48000);
    self[i] = row_of(world, &tree, "tool+0x300")->self;
    total[i] = row_of(world, &tree, "tool+0x100")->total;
  }
  assert_true(self[0].share == self[1].share);
  assert_true(self[0].high - self[0].low < 0.01);
  assert_true(self[1].high - self[1].low > 0.1);
  assert_true(total[0].share == 1 && total[1].share == 1); /* on every board */
  assert_true(total[1].low > 0.999 && total[1].high == 1);
}

static void recursion_counts_once_in_a_total_and_stays_a_chain_in_the_tree(void **state) {
  struct world *world = *state;
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, recursion, 4, 4, 40);
  window_add(&window, recursion, 3, 1, 10);
  window_add(&window, recursion, 1, 5, 50);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  struct view_tree tree = tree_of(world, NULL);
  assert_sound(&tree);
  assert_int_equal(tree.node_count, 5); /* root, 0x100, and 0x300 three deep */
  const struct view_top_row *row = row_of(world, &tree, "tool+0x300");
  assert_int_equal(row->self_weight, 50);
  assert_int_equal(row->total_weight, 50);
  assert_int_equal(row->total_count, 5);
  assert_int_equal(row_of(world, &tree, "tool+0x100")->total_weight, 100);
  assert_int_equal(row_of(world, &tree, "tool+0x100")->self_weight, 50);
}

static void a_link_register_is_no_caller_but_its_sample_counts(void **state) {
  struct world *world = *state;
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, kernel_stack, 2, 1, 10); /* 0x100 > 0x200, a stack */
  window_add(&window, kernel_stack, 2, 3, 30); /* the same, 0x100 the link register's */
  window_make_lr(&window);
  window_add(&window, recursion, 1, 2, 20); /* 0x100 alone */
  window_make_lr(&window);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  struct view_tree tree = tree_of(world, NULL);
  assert_sound(&tree);
  assert_int_equal(tree.total_weight, 60);
  assert_int_equal(row_of(world, &tree, "tool+0x200")->self_weight, 40);
  assert_int_equal(row_of(world, &tree, "tool+0x100")->self_weight, 20);
  assert_int_equal(row_of(world, &tree, "tool+0x100")->total_weight, 30);
  struct buf folded = {0};
  assert_int_equal(view_folded(&tree, &world->arena, &folded), 0);
  buf_append_byte(&folded, 0);
  assert_non_null(strstr((const char *)folded.data, "tool+0x100;tool+0x200 10\n"));
  assert_non_null(strstr((const char *)folded.data, "\ntool+0x200 30\n"));
  buf_fini(&folded);
}

static void a_function_on_both_sides_of_another_counts_each_stack_once(void **state) {
  struct world *world = *state;
  static const uint64_t there_and_back[][2] = {{0, 1}, {0, 2}, {0, 1}, {0, 3}};
  static const uint64_t sibling[][2] = {{0, 3}, {0, 1}};
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, there_and_back, 4, 1, 7);
  window_add(&window, sibling, 2, 1, 5);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  struct view_tree tree = tree_of(world, NULL);
  assert_int_equal(row_of(world, &tree, "tool+0x1")->total_weight, 12);
  assert_int_equal(row_of(world, &tree, "tool+0x1")->self_weight, 5);
  assert_int_equal(row_of(world, &tree, "tool+0x3")->total_weight, 12);
  assert_int_equal(row_of(world, &tree, "tool+0x2")->total_weight, 7);
}

static void boards_and_days_and_addresses_merge_by_name(void **state) {
  struct world *world = *state;
  for (uint64_t i = 0; i < 6; i++) {
    struct window window;
    window_init(&window, "tool", i);
    window_add(&window, kernel_stack, 3, 1, 10);
    window_append(&window, world->store, i % 2 ? "b1" : "b2", 1, NOON_MS + i * 86400000);
  }
  struct view_tree tree = tree_of(world, NULL);
  assert_sound(&tree);
  assert_int_equal(tree.node_count, 4);
  assert_int_equal(tree.total_weight, 60);
  assert_int_equal(tree.total_count, 6);
}

static void a_selector_selects_and_its_parts_add_up(void **state) {
  struct world *world = *state;
  static const char *const services[] = {"red", "green", "blue"};
  uint64_t seq = 0, stored = 0;
  for (unsigned board = 0; board < 4; board++)
    for (unsigned service = 0; service < 3; service++) {
      char name[16];
      struct window window;
      snprintf(name, sizeof name, "b%u", board);
      window_init(&window, services[service], 1);
      window_add(&window, recursion, 1 + service, 1, 1000 * board + 10 * service + 1);
      seq++;
      window_append(&window, world->store, name, seq, NOON_MS + seq * 10000);
      stored += 1000 * board + 10 * service + 1;
    }
  uint64_t sum = 0;
  for (unsigned service = 0; service < 3; service++) {
    char match[64];
    snprintf(match, sizeof match, "{service=\"%s\"}", services[service]);
    struct view_tree tree = tree_of(world, match);
    assert_sound(&tree);
    sum += wide_sum_cut(tree.total_weight);
  }
  assert_int_equal(sum, stored);
  assert_int_equal(tree_of(world, NULL).total_weight, stored);
  assert_int_equal(tree_of(world, "{}").total_weight, stored);
  assert_int_equal(tree_of(world, "{board=~\"b[13]\",service=\"blue\"}").total_weight, 4042);
  assert_int_equal(tree_of(world, "{board=\"none\"}").total_weight, 0);
}

static void random_batches_add_up_to_what_was_stored(void **state) {
  struct world *world = *state;
  uint64_t weight = 0, count = 0;
  srand(21);
  for (uint64_t seq = 1; seq <= 60; seq++) {
    struct window window;
    window_init(&window, rand() % 2 ? "one" : "two", 1);
    for (int stack = 0; stack < 20; stack++) {
      uint64_t frames[12][2];
      size_t depth = 1 + (size_t)rand() % 12;
      for (size_t i = 0; i < depth; i++) {
        frames[i][0] = (uint64_t)rand() % 4;
        frames[i][1] = (uint64_t)rand() % 3;
      }
      uint64_t records = 1 + (uint64_t)rand() % 9;
      window_add(&window, (const uint64_t(*)[2])frames, depth, records, records * 1000 + 3);
      weight += records * 1000 + 3;
      count += records;
    }
    window_append(&window, world->store, rand() % 2 ? "b1" : "b2", seq,
                  NOON_MS + (uint64_t)(rand() % 5) * 40000000);
  }
  struct view_tree tree = tree_of(world, NULL);
  struct view_top_row *rows = NULL;
  uint32_t row_count = 0;
  uint64_t self = 0;
  assert_sound(&tree);
  assert_int_equal(tree.total_weight, weight);
  assert_int_equal(tree.total_count, count);
  assert_int_equal(view_top(&tree, &world->arena, &rows, &row_count), 0);
  for (uint32_t i = 0; i < row_count; i++) {
    self += wide_sum_cut(rows[i].self_weight);
    assert_true(rows[i].total_weight >= rows[i].self_weight);
    assert_true(rows[i].total_weight <= tree.total_weight);
    assert_true(i == 0 || rows[i - 1].self_weight >= rows[i].self_weight);
    assert_true(rows[i].self.low <= rows[i].self.share && rows[i].self.share <= rows[i].self.high);
  }
  assert_int_equal(self, weight);
}

static void shares_of_equal_records_have_wilsons_interval_of_their_counts(void **state) {
  struct world *world = *state;
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, recursion, 1, 182, 1820);
  window_add(&window, recursion, 2, 81, 810);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  struct view_tree tree = tree_of(world, NULL);
  struct view_share share = row_of(world, &tree, "tool+0x300")->self;
  assert_int_equal((int)(share.share * 263 + 0.5), 81);
  assert_int_equal((int)(share.low * 10000 + 0.5), 2553); /* 81 of 263 */
  assert_int_equal((int)(share.high * 10000 + 0.5), 3662);
  share = row_of(world, &tree, "tool+0x100")->total;
  assert_true(share.share == 1 && share.high == 1 && share.low > 0.98);
}

static void losses_of_the_boards_that_are_meant_are_in_the_answer(void **state) {
  struct world *world = *state;
  for (uint64_t board = 1; board <= 3; board++) {
    char name[16];
    struct window window;
    snprintf(name, sizeof name, "b%u", (unsigned)board);
    window_init(&window, "tool", 1);
    window.batch.counters.dropped[LOSS_RING_FULL] = board * 10;
    window.batch.counters.produced = 1000;
    window_add(&window, recursion, 2, 1, 1);
    window_append(&window, world->store, name, 1, NOON_MS);
  }
  assert_int_equal(tree_of(world, NULL).loss[LOSS_RING_FULL], 60);
  assert_int_equal(tree_of(world, "{service=\"none\"}").loss[LOSS_RING_FULL], 60);
  assert_int_equal(tree_of(world, "{board=\"b2\"}").loss[LOSS_RING_FULL], 20);
  looks_at_losses = 0;
  assert_int_equal(tree_of(world, "{board!=\"b2\"}").loss[LOSS_RING_FULL], 40);
  assert_int_equal(tree_of(world, "{board=~\"b[23]\"}").loss[LOSS_RING_FULL], 50);
  assert_int_equal(looks_at_losses, 2); /* one a question, however many boards are meant */
  assert_int_equal(tree_of(world, "{board=~\"c.*\"}").loss[LOSS_RING_FULL], 0);
  assert_int_equal(looks_at_losses, 2); /* no boards have no losses */
}

static void folded_lines_carry_all_weight_and_no_stray_separators(void **state) {
  struct world *world = *state;
  static const uint64_t odd[][2] = {{0, 0x100}, {2, 0x9}};
  struct window window;
  struct buf text = {0};
  window_init(&window, "tool", 1);
  window_add(&window, kernel_stack, 3, 1, 10);
  window_add(&window, kernel_stack, 1, 1, 5);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  struct view_tree tree = tree_of(world, NULL);
  assert_int_equal(view_folded(&tree, &world->arena, &text), 0);
  assert_string_equal(buf_text(&text), "tool+0x100 5\ntool+0x100;tool+0x200;[kernel] 10\n");
  buf_clear(&text);
  window_init(&window, "tool", 1);
  window.modules[2].path = "/opt/x/lib;odd.so";
  window_add(&window, odd, 2, 1, 7);
  window_append(&window, world->store, "b2", 1, NOON_MS);
  tree = tree_of(world, "{board=\"b2\"}");
  assert_int_equal(view_folded(&tree, &world->arena, &text), 0);
  assert_string_equal(buf_text(&text), "tool+0x100;lib:odd.so+0x9 7\n");
  buf_fini(&text);
}

static void an_arena_that_is_too_small_is_said(void **state) {
  struct world *world = *state;
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree = {.total_weight = 77};
  struct window window;
  struct arena small;
  window_init(&window, "tool", 1);
  window_add(&window, kernel_stack, 3, 1, 10);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  for (size_t limit = 0; limit < 512; limit += 16) {
    arena_init(&small, limit);
    int error = query_tree(&source, &range, &small, &tree);
    if (error != 0) assert_int_equal(error, -ENOMEM);
    if (error != 0) assert_int_equal(tree.total_weight, 77); /* untouched */
    arena_fini(&small);
    if (error == 0) return;
  }
}

static void a_query_past_its_deadline_is_given_up(void **state) {
  struct cutoff cutoff = {.deadline_ns = 1};
  struct world *world = *state;
  const struct query_source source = {.store = world->store};
  const struct query_range range = {
      .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU, .cutoff = &cutoff};
  struct view_tree tree = {.total_weight = 77};
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, kernel_stack, 3, 1, 10);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), -ETIMEDOUT);
  assert_int_equal(tree.total_weight, 77); /* untouched */
  cutoff.deadline_ns = UINT64_MAX;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  assert_int_equal(tree.total_weight, 10);
}

static atomic_bool is_abandoned;

static void a_query_that_was_abandoned_is_given_up(void **state) {
  const struct cutoff cutoff = {.is_abandoned = &is_abandoned};
  struct world *world = *state;
  const struct query_source source = {.store = world->store};
  const struct query_range range = {
      .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU, .cutoff = &cutoff};
  struct view_tree tree = {.total_weight = 77};
  struct window window;
  window_init(&window, "tool", 1);
  window_add(&window, kernel_stack, 3, 1, 10);
  window_append(&window, world->store, "b1", 1, NOON_MS);
  is_abandoned = true;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), -ETIMEDOUT);
  assert_int_equal(tree.total_weight, 77); /* untouched */
  is_abandoned = false;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  assert_int_equal(tree.total_weight, 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(an_empty_store_answers_with_a_bare_root),
      TEST(frames_without_a_symbol_are_named_after_their_module),
      TEST(samples_of_unlike_weight_are_worth_what_the_heavy_ones_tell),
      TEST(what_boards_differ_by_is_in_the_interval),
      TEST(recursion_counts_once_in_a_total_and_stays_a_chain_in_the_tree),
      TEST(a_link_register_is_no_caller_but_its_sample_counts),
      TEST(a_function_on_both_sides_of_another_counts_each_stack_once),
      TEST(boards_and_days_and_addresses_merge_by_name),
      TEST(a_selector_selects_and_its_parts_add_up),
      TEST(random_batches_add_up_to_what_was_stored),
      TEST(shares_of_equal_records_have_wilsons_interval_of_their_counts),
      TEST(losses_of_the_boards_that_are_meant_are_in_the_answer),
      TEST(folded_lines_carry_all_weight_and_no_stray_separators),
      TEST(an_arena_that_is_too_small_is_said),
      TEST(a_query_past_its_deadline_is_given_up),
      TEST(a_query_that_was_abandoned_is_given_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
