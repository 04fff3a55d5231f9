/* SPDX-License-Identifier: Apache-2.0 */
#include "store_fixture.h"

void open_store(struct world *world) {
  char error[256] = "";
  if (store_open(world->dir, &world->store, error, sizeof error) != 0) fail_msg("%s", error);
}

void reopen_store(struct world *world) {
  store_close(world->store);
  open_store(world);
}

int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  snprintf(world->dir, sizeof world->dir, "/tmp/store_test.XXXXXX");
  if (mkdtemp(world->dir) == NULL) return -1;
  open_store(world);
  *state = world;
  return 0;
}

int tear_down(void **state) {
  struct world *world = *state;
  store_close(world->store);
  remove_dir(world->dir);
  free(world);
  return 0;
}

int want_all(void *context, const struct store_series *series) {
  struct sums *sums = context;
  size_t len = strlen(sums->series_text);
  sums->series_asked++;
  snprintf(sums->series_text + len, sizeof sums->series_text - len, "%s/%s ",
           store_series_label(series, "board"), store_series_label(series, "thread"));
  return 1;
}

int add_block(void *context, const struct store_series *series, const struct store_forest *forest,
              uint64_t start_ms, uint64_t end_ms, const struct store_row *rows, size_t count) {
  struct sums *sums = context;
  assert_true(end_ms >= start_ms);
  assert_true(forest->id > 0);
  for (size_t i = 0; i < count; i++) {
    uint32_t node = rows[i].node;
    assert_true(node < forest->node_count);
    for (; node != BATCH_NONE; node = forest->nodes[node].parent) {
      assert_true(forest->nodes[node].module < forest->module_count);
      assert_true(forest->nodes[node].parent == BATCH_NONE || forest->nodes[node].parent < node);
    }
    sums->count += rows[i].count;
    sums->weight += rows[i].weight;
  }
  sums->blocks++;
  sums->rows += count;
  sums->last_series = series->id;
  return 0;
}

struct sums scan_range(struct store *store, uint64_t from_ms, uint64_t to_ms) {
  struct sums sums = {0};
  const struct store_scan scan = {.from_ms = from_ms,
                                  .to_ms = to_ms,
                                  .grain_ms = 1, /* windows as they are */
                                  .types = SAMPLE_SET_CPU,
                                  .matches = want_all,
                                  .on_block = add_block,
                                  .context = &sums};
  assert_int_equal(store_scan(store, &scan), 0);
  return sums;
}

struct sums scan_all(struct store *store) {
  return scan_range(store, 0, UINT64_MAX);
}

static int keep_board(void *context, const struct store_board *board) {
  struct store_board *wanted = context;
  if (strcmp(board->name, wanted->name) != 0) return 0;
  wanted->produced = board->produced;
  wanted->stored = board->stored;
  wanted->pending = board->pending;
  wanted->refused = board->refused;
  wanted->refused_ms = board->refused_ms;
  wanted->cpus = board->cpus;
  wanted->cpus_most = board->cpus_most;
  wanted->cpus_changed_ms = board->cpus_changed_ms;
  wanted->first_seen_ms = board->first_seen_ms;
  wanted->last_seen_ms = board->last_seen_ms;
  wanted->achieved_mhz = board->achieved_mhz;
  wanted->effort.asked_mhz = board->effort.asked_mhz;
  wanted->effort.sample_ns = board->effort.sample_ns;
  wanted->label_count = board->label_count;
  memcpy(wanted->dropped, board->dropped, sizeof wanted->dropped);
  return 0;
}

struct store_board board_of(struct store *store, const char *name) {
  struct store_board board = {.name = name};
  assert_int_equal(store_boards(store, keep_board, &board), 0);
  return board;
}

void assert_books_close(struct store *store, const char *name) {
  struct store_board board = board_of(store, name);
  uint64_t loss[LOSS_REASON_COUNT] = {0}, sum = 0;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) sum += board.dropped[i];
  assert_int_equal(board.produced, board.stored + sum + board.pending);
  assert_int_equal(store_loss_in_range(store, ONLY(name), 0, UINT64_MAX, NULL, loss), 0);
  assert_memory_equal(loss, board.dropped, sizeof loss);
}
