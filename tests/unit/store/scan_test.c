/* SPDX-License-Identifier: Apache-2.0 */
/* Days are read concurrently: the result is their content, in as few blocks as possible. */
#include "day_fixture.h"

#include "common/table.h"
#include "store/scan_forest.h"

enum { STACKS = 4096 };

/* All results of a scan, by stack. */
struct told {
  uint64_t blocks, series_asked, nodes, weight, count;
  uint64_t rows, rest_weight; /* of all; of STORE_REST */
  uint64_t by_stack[STACKS];
};

static int want(void *context, const struct store_series *series) {
  struct told *told = context;
  (void)series;
  told->series_asked++;
  return 1;
}

static uint64_t stack_of(const struct store_forest *forest, uint32_t node) {
  uint64_t hash = 0;
  for (; node != BATCH_NONE; node = forest->nodes[node].parent) {
    const char *path = forest->modules[forest->nodes[node].module].path;
    hash = table_hash(path, strlen(path), hash ^ forest->nodes[node].address);
  }
  return hash;
}

static int tell(void *context, const struct store_series *series, const struct store_forest *forest,
                uint64_t start_ms, uint64_t end_ms, const struct store_row *rows, size_t count) {
  struct told *told = context;
  (void)series, (void)start_ms, (void)end_ms;
  told->blocks++;
  told->nodes = forest->node_count;
  for (size_t i = 0; i < count; i++) {
    assert_true(rows[i].node < forest->node_count);
    told->by_stack[stack_of(forest, rows[i].node) % STACKS] += rows[i].weight;
    told->weight += rows[i].weight;
    told->count += rows[i].count;
    told->rows++;
    const char *path = forest->modules[forest->nodes[rows[i].node].module].path;
    if (strcmp(path, STORE_REST) == 0) told->rest_weight += rows[i].weight;
  }
  return 0;
}

static uint32_t board_nodes; /* of the next scans */

static struct told *tell_as(struct store *store, uint64_t grain_ms, uint64_t from_ms,
                            uint64_t to_ms) {
  struct told *told = calloc(1, sizeof *told);
  assert_non_null(told);
  const struct store_scan wish = {.from_ms = from_ms,
                                  .to_ms = to_ms,
                                  .grain_ms = grain_ms,
                                  .types = SAMPLE_SET_CPU,
                                  .board_nodes = board_nodes,
                                  .matches = want,
                                  .on_block = tell,
                                  .context = told};
  assert_int_equal(store_scan(store, &wish), 0);
  return told;
}

/* Appends a window whose addresses begin SHIFT higher, below the first FIXTURE_NODES / 4 nodes. */
static void append_shifted(struct world *world, uint64_t seq, uint64_t start_ms, uint64_t shift) {
  struct made_batch made;
  make_batch(&made, 1, seq);
  for (uint32_t i = FIXTURE_NODES / 4; i < FIXTURE_NODES; i++) made.nodes[i].address += shift;
  seal_batch(&made);
  struct store_append append = append_of(&made, "b1", start_ms);
  assert_int_equal(store_append(world->store, &append, 1), 0);
  free_batch(&made);
}

static void days_are_added_up_before_they_are_shown(void **state) {
  struct world *world = *state;
  for (unsigned day = 0; day < 3; day++)
    append_new(world->store, "b1", 1, day + 1, NOON_MS + day * (uint64_t)DAY_MS);
  struct told *windows = tell_as(world->store, 1, 0, UINT64_MAX);
  struct told *sums = tell_as(world->store, 0, 0, UINT64_MAX);
  assert_int_equal(windows->blocks, 9); /* three threads' names */
  assert_int_equal(sums->blocks, 3);
  assert_int_equal(sums->series_asked, 3);
  assert_int_equal(sums->nodes, windows->nodes);
  assert_true(sums->nodes <= FIXTURE_NODES);
  assert_memory_equal(sums->by_stack, windows->by_stack, sizeof sums->by_stack);
  free(windows), free(sums);
}

static void days_of_other_stacks_and_files_of_other_tiers_add_up(void **state) {
  struct world *world = *state;
  struct told *all, *windows, *sum = calloc(1, sizeof *sum);
  assert_non_null(sum);
  for (unsigned day = 0; day < 3; day++) {
    append_shifted(world, day + 1, NOON_MS + day * (uint64_t)DAY_MS, day % 2 * 0x10000);
    if (day == 1) assert_int_equal(store_roll(world->store), 0); /* the third has windows alone */
  }
  for (unsigned day = 0; day < 3; day++) {
    uint64_t start_ms = day_of(NOON_MS) * (uint64_t)DAY_MS + day * (uint64_t)DAY_MS;
    struct told *one = tell_as(world->store, 0, start_ms, start_ms + DAY_MS);
    for (unsigned i = 0; i < STACKS; i++) sum->by_stack[i] += one->by_stack[i];
    free(one);
  }
  all = tell_as(world->store, 0, 0, UINT64_MAX);
  windows = tell_as(world->store, 1, 0, UINT64_MAX);
  assert_int_equal(all->blocks, 3);
  assert_memory_equal(all->by_stack, sum->by_stack, sizeof sum->by_stack);
  assert_memory_equal(windows->by_stack, sum->by_stack, sizeof sum->by_stack);
  free(all), free(windows), free(sum);
}

/* Nothing is lost of the sums.  The first scan reads the same files into the same forest without a
   rest. */
static void of_a_board_with_many_nodes_the_lightest_are_one(void **state) {
  struct world *world = *state;
  append_new(world->store, "b1", 1, 1, NOON_MS);
  append_new(world->store, "b2", 1, 1, NOON_MS);
  append_shifted(world, 2, NOON_MS + (uint64_t)DAY_MS, 0x10000);
  struct told *all = tell_as(world->store, 0, 0, UINT64_MAX);
  assert_int_equal(all->rest_weight, 0);
  board_nodes = 4; /* and 16 of a series */
  struct told *few = tell_as(world->store, 0, 0, UINT64_MAX);
  struct told *windows = tell_as(world->store, 1, 0, UINT64_MAX);
  board_nodes = 1 << 16;
  struct told *enough = tell_as(world->store, 0, 0, UINT64_MAX);
  board_nodes = 0;
  assert_int_equal(few->weight, all->weight);
  assert_int_equal(few->count, all->count);
  assert_true(few->rows < all->rows);
  assert_true(few->rest_weight > 0 && few->rest_weight < all->weight / 2);
  assert_int_equal(windows->weight, all->weight);
  assert_int_equal(windows->count, all->count);
  assert_true(windows->rest_weight > few->rest_weight); /* four nodes are */
  assert_memory_equal(enough->by_stack, all->by_stack, sizeof all->by_stack);
  free(all), free(few), free(windows), free(enough);
}

static void more_days_than_are_open_at_once_are_all_shown(void **state) {
  struct world *world = *state;
  enum { DAYS = 67 }; /* 64 at once */
  uint64_t weight = 0;
  for (unsigned day = 0; day < DAYS; day++) {
    struct made_batch made;
    make_batch(&made, 1, day + 1);
    weight += made.weight;
    append_new(world->store, "b1", 1, day + 1, NOON_MS + day * (uint64_t)DAY_MS);
  }
  struct told *told = tell_as(world->store, 0, 0, UINT64_MAX);
  assert_int_equal(told->weight, weight);
  assert_int_equal(told->blocks, 6);
  assert_int_equal(told->series_asked, 3);
  free(told);
}

/* Of DAY's blocks of windows none can be read any more. */
static void damage(struct world *world, uint32_t day) {
  char path[DAY_PATH_BYTES];
  assert_int_equal(day_folder_path(world->dir, DAY_WINDOWS, day, path), 0);
  change_file(path, "UPDATE block SET bytes=zeroblob(9)");
}

static void a_damaged_day_leaves_those_beside_it_whole(void **state) {
  struct world *world = *state;
  uint64_t range_ms[2] = {NOON_MS, NOON_MS + (uint64_t)DAY_MS};
  for (unsigned day = 0; day < 3; day++)
    append_new(world->store, "b1", 1, day + 1, NOON_MS + day * (uint64_t)DAY_MS);
  struct told *before = tell_as(world->store, 0, 0, UINT64_MAX);
  struct told *second = tell_as(world->store, 0, range_ms[1] - DAY_MS / 2, range_ms[1] + 3600000);
  damage(world, day_of(NOON_MS) + 1);
  struct told *found = tell_as(world->store, 0, 0, UINT64_MAX);
  assert_int_equal(found->weight, before->weight - second->weight);
  struct told *after = tell_as(world->store, 0, 0, UINT64_MAX);
  assert_int_equal(day_folder_bytes(world->dir, DAY_WINDOWS, day_of(NOON_MS) + 1), 0);
  for (unsigned i = 0; i < STACKS; i++)
    assert_int_equal(after->by_stack[i], before->by_stack[i] - second->by_stack[i]);
  free(before), free(second), free(found), free(after);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(days_are_added_up_before_they_are_shown),
      TEST(days_of_other_stacks_and_files_of_other_tiers_add_up),
      TEST(more_days_than_are_open_at_once_are_all_shown),
      TEST(of_a_board_with_many_nodes_the_lightest_are_one),
      TEST(a_damaged_day_leaves_those_beside_it_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
