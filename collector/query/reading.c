/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the blocks that a query reads. Sums are the same from windows, hours or days; the
   sampling units (view/groups) and the distinctions that an answer can make differ:

     one board, or these  stretches of time are the sampling units: blocks of at most a 32nd of
     boards alone         the time that has data
     several              the boards are, whatever the blocks: the longest
     more than 64         groups of boards are, as merged by the store, unless boards are
                          distinguished or chosen by name
     a series over time   the longest blocks that make up a step

   No board of several may take all the time: at most QUERY_BOARD_NODES nodes of each board or
   group are read.

   It is not known in advance which boards that match by name have samples of the selection. So
   if few match, a scan first checks whether more than one has. */
#include "reading.h"

#include "common/table.h"
#include "query.h"
#include "range.h"
#include "selector.h"
#include "store/store_read.h"

#include <errno.h>
#include <string.h>

_Static_assert((int)STORE_BOARDS_APART == (int)GROUPS_MAX, "the store merges what answers merge");
_Static_assert((int)STORE_GROUPS == (int)GROUPS_HASHED_MAX,
               "the store's groups are those of intervals");

enum {
  STRETCHES_MIN = 32,
  SLOTS = 1024,          /* parts of a range, each with data or without */
  SUMMED_UP_MS = 300000, /* the shortest blocks except windows */
  ROUNDS_MAX = 3,        /* searches for data in finer blocks */
};

struct census {
  const struct query_range *range;
  uint32_t count;                       /* boards that match by name */
  uint64_t first_seen_ms, last_seen_ms; /* of them */
  bool has_one;
  uint64_t one; /* hash of the first board with samples */
};

static int count_board(void *context, const struct store_board *board) {
  struct census *census = context;
  const struct selector *selector = census->range->selector;
  if (selector != NULL && !selector_may_match_board(selector, board->name)) return 0;
  if (census->count == 0 || board->first_seen_ms < census->first_seen_ms)
    census->first_seen_ms = board->first_seen_ms;
  if (board->last_seen_ms > census->last_seen_ms) census->last_seen_ms = board->last_seen_ms;
  census->count++;
  return 0;
}

/* Stops at the second board. */
static int meet(void *context, const struct store_series *series) {
  struct census *census = context;
  const char *board = store_series_label(series, "board");
  if (board == NULL || !range_wants(census->range, series)) return 0;
  uint64_t hash = table_hash(board, strlen(board), 0);
  if (census->has_one && hash != census->one) return -ECANCELED;
  census->has_one = true;
  census->one = hash;
  return 0;
}

/* Whether at most one of several boards has samples of the range: 1, 0 or -errno. */
static int is_one(struct store *store, struct census *census) {
  const struct store_scan scan = {.from_ms = census->range->from_ms,
                                  .to_ms = census->range->to_ms,
                                  .types = census->range->types,
                                  .is_of_settled = census->range->is_of_settled,
                                  .matches = meet,
                                  .cutoff = census->range->cutoff,
                                  .context = census};
  if (census->count <= 1) return 1;
  if (census->count > GROUPS_MAX) return 0;
  int error = store_scan(store, &scan);
  return error == -ECANCELED ? 0 : error != 0 ? error : 1;
}

/* The slots of a time that have data. */
struct slots {
  const struct query_range *range;
  uint64_t from_ms, to_ms, slot_ms;
  bool has_data[SLOTS];
};

/* The part of the range in which the boards reported. */
static struct slots slots_of(const struct census *census) {
  struct slots slots = {
      .range = census->range, .from_ms = census->range->from_ms, .to_ms = census->range->to_ms};
  if (slots.from_ms < census->first_seen_ms && census->first_seen_ms < slots.to_ms)
    slots.from_ms = census->first_seen_ms;
  if (slots.to_ms > census->last_seen_ms && census->last_seen_ms > slots.from_ms)
    slots.to_ms = census->last_seen_ms;
  slots.slot_ms = slots.to_ms > slots.from_ms ? (slots.to_ms - slots.from_ms) / SLOTS + 1 : 1;
  return slots;
}

static int wants(void *context, const struct store_series *series) {
  const struct slots *slots = context;
  return range_wants(slots->range, series);
}

static int mark(void *context, const struct store_series *series, const struct store_forest *forest,
                uint64_t start_ms, uint64_t end_ms, const struct store_row *rows, size_t count) {
  struct slots *slots = context;
  (void)series, (void)forest, (void)rows, (void)count;
  if (end_ms <= slots->from_ms || start_ms >= slots->to_ms) return 0;
  uint64_t first = start_ms > slots->from_ms ? (start_ms - slots->from_ms) / slots->slot_ms : 0;
  uint64_t last = (end_ms - 1 - slots->from_ms) / slots->slot_ms;
  for (uint64_t i = first; i <= last && i < SLOTS; i++) slots->has_data[i] = true;
  return 0;
}

/* Finds how much of SLOTS has data, in blocks of GRAIN_MS at most. */
static int find_busy_ms(struct store *store, struct slots *slots, uint64_t grain_ms,
                        uint64_t *ret) {
  const struct store_scan scan = {.from_ms = slots->from_ms,
                                  .to_ms = slots->to_ms,
                                  .grain_ms = grain_ms,
                                  .types = slots->range->types,
                                  .is_of_settled = slots->range->is_of_settled,
                                  .sums_will_do = true,
                                  .matches = wants,
                                  .on_block = mark,
                                  .cutoff = slots->range->cutoff,
                                  .context = slots};
  memset(slots->has_data, 0, sizeof slots->has_data);
  int error = store_scan(store, &scan);
  *ret = 0;
  for (unsigned i = 0; i < SLOTS; i++) *ret += slots->has_data[i] ? slots->slot_ms : 0;
  return error;
}

/* Sets RET to a fraction of the time that has data. */
static int find_stretch(struct store *store, const struct census *census, uint64_t *ret) {
  struct slots slots = slots_of(census);
  uint64_t busy_ms = slots.to_ms > slots.from_ms ? slots.to_ms - slots.from_ms : 0;
  *ret = busy_ms / STRETCHES_MIN + 1;
  for (unsigned round = 0; round < ROUNDS_MAX; round++) {
    uint64_t before_ms = *ret;
    if (before_ms <= SUMMED_UP_MS) break;
    int error = find_busy_ms(store, &slots, before_ms, &busy_ms);
    if (error != 0) return error;
    if (busy_ms / STRETCHES_MIN + 1 < *ret) *ret = busy_ms / STRETCHES_MIN + 1;
    if (*ret > before_ms / 2) break;
  }
  return 0;
}

/* The longest blocks of the store that divide STEP_MS. */
static uint64_t grain_of(uint64_t step_ms) {
  static const uint64_t lengths_ms[] = {24 * 3600000, 3600000, 300000};
  for (unsigned i = 0; i < sizeof lengths_ms / sizeof *lengths_ms; i++)
    if (step_ms % lengths_ms[i] == 0) return lengths_ms[i];
  return 1;
}

int reading_choose(struct store *store, const struct query_range *range,
                   const struct reading_need *need, struct store_scan *scan) {
  struct census census = {.range = range};
  bool asks_for_boards = range->selector != NULL && selector_asks_for(range->selector, "board");
  scan->from_ms = range->from_ms;
  scan->to_ms = range->to_ms;
  scan->is_of_settled = range->is_of_settled;
  scan->rows_max = QUERY_ROWS_MAX;
  scan->sums_will_do = need->nothing_within;
  int error = store_boards(store, count_board, &census);
  if (error != 0) return error;
  scan->board_nodes = census.count > 1 ? QUERY_BOARD_NODES : 0;
  scan->merges_boards = census.count > GROUPS_MAX && !asks_for_boards && !need->boards;
  if (need->step_ms > 0) {
    scan->grain_ms = grain_of(need->step_ms);
    return 0;
  }
  int one = range->without_intervals ? 0 : range->is_of_these ? 1 : is_one(store, &census);
  return one == 1 ? find_stretch(store, &census, &scan->grain_ms) : one;
}
