/* SPDX-License-Identifier: Apache-2.0 */
/* Sums are the same from windows, hours or days; what differs is what intervals can be made of
   (view/groups), and what an answer can tell apart:

     one board            stretches of its time are the sampling units: blocks a sixteenth of the
                          range at most
     several              the boards are, whatever the blocks: the longest
     more than 64         groups of boards are: those that the store has merged, unless boards are
                          told apart or chosen by name
     a series over time   the longest blocks of which a step is made up

   Which of the boards that match by name have samples of the selection nobody knows before; so,
   where these are few, it is asked first whether there is a second one. */
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

struct census {
  const struct query_range *range;
  uint32_t count;                       /* of boards that match by name */
  uint64_t first_seen_ms, last_seen_ms; /* of them */
  bool has_one;
  uint64_t one; /* hash of the first board that has samples */
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
  if (range_is_late(census->range)) return -ETIMEDOUT;
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
                                  .context = census};
  if (census->count <= 1) return 1;
  if (census->count > GROUPS_MAX) return 0;
  int error = store_scan(store, &scan);
  return error == -ECANCELED ? 0 : error != 0 ? error : 1;
}

/* A sixteenth of the time that there is anything of. */
static uint64_t stretch_of(const struct census *census) {
  uint64_t from_ms = census->range->from_ms, to_ms = census->range->to_ms;
  if (from_ms < census->first_seen_ms && census->first_seen_ms < to_ms)
    from_ms = census->first_seen_ms;
  if (to_ms > census->last_seen_ms && census->last_seen_ms > from_ms) to_ms = census->last_seen_ms;
  uint64_t stretch_ms = to_ms > from_ms ? (to_ms - from_ms) / GROUPS_TIMES_MAX : 0;
  return stretch_ms > 0 ? stretch_ms : 1;
}

/* The longest of the store's blocks that STEP_MS is a multiple of. */
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
  scan->merges_boards = census.count > GROUPS_MAX && !asks_for_boards && !need->boards;
  if (need->step_ms > 0) {
    scan->grain_ms = grain_of(need->step_ms);
    return 0;
  }
  int one = range->without_intervals ? 0 : is_one(store, &census);
  if (one == 1) scan->grain_ms = stretch_of(&census);
  return one < 0 ? one : 0;
}
