/* SPDX-License-Identifier: Apache-2.0 */
#include "told_fixture.h"

static int want_every(void *context, const struct store_series *series) {
  (void)context, (void)series;
  return 1;
}

static int tell(void *context, const struct store_series *series, const struct store_forest *forest,
                uint64_t start_ms, uint64_t end_ms, const struct store_row *rows, size_t count) {
  struct told *told = context;
  const char *board = store_series_label(series, "board");
  const char *site = store_series_label(series, "site");
  assert_true((board == NULL) == (series->group > 0) && series->group <= STORE_GROUPS);
  told->blocks++;
  told->grouped_blocks += series->group > 0;
  told->site_blocks += site != NULL && strcmp(site, "north") == 0;
  told->marks |= series->marks;
  if (end_ms - start_ms > told->longest_ms) told->longest_ms = end_ms - start_ms;
  for (size_t i = 0; i < count; i++) {
    told->count += rows[i].count;
    told->weight += rows[i].weight;
    evidence_add(&told->evidence, rows[i].count, rows[i].weight);
    if (forest->node_count == 0) continue; /* a sum */
    told->by_address[forest->nodes[rows[i].node].address % ADDRESSES] += rows[i].weight;
  }
  return 0;
}

struct told *scan_as(struct store *store, struct store_scan wish) {
  struct told *told = calloc(1, sizeof *told);
  assert_non_null(told);
  wish.types = SAMPLE_SET_CPU;
  wish.matches = want_every;
  wish.on_block = tell;
  wish.context = told;
  assert_int_equal(store_scan(store, &wish), 0);
  return told;
}

struct told *tell_all(struct store *store) {
  return scan_as(store, (struct store_scan){.to_ms = UINT64_MAX});
}

void assert_same(const struct told *a, const struct told *b) {
  assert_int_equal(a->count, b->count);
  assert_int_equal(a->weight, b->weight);
  assert_memory_equal(a->by_address, b->by_address, sizeof a->by_address);
  assert_true(a->evidence.weight == b->evidence.weight);
  double ratio = b->evidence.squares > 0 ? a->evidence.squares / b->evidence.squares : 1;
  assert_true(ratio > 0.99 && ratio < 1.01);
}
