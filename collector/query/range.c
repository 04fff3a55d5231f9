/* SPDX-License-Identifier: Apache-2.0 */
/* What is lost is known by board, and what is selected by series: all that a board which may match
   has lost is part of an answer, whichever of its programs it was.  Where all boards may match, one
   look at the books is enough. */
#include "range.h"

#include "common/clock.h"
#include "query.h"
#include "selector.h"
#include "store/store_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool range_is_late(const struct query_range *range) {
  return range->deadline_ns != 0 && clock_monotonic_ns() >= range->deadline_ns;
}

bool range_wants(const struct query_range *range, const struct store_series *series) {
  return range->selector == NULL || selector_matches(range->selector, series);
}

struct board_count {
  const struct selector *selector;
  uint32_t all, matching;
  char **names; /* of those that match */
};

static int count_board(void *context, const struct store_board *board) {
  struct board_count *count = context;
  count->all++;
  if (!selector_may_match_board(count->selector, board->name)) return 0;
  char **more = reallocarray(count->names, count->matching + 1, sizeof *more);
  if (more == NULL) return -ENOMEM;
  count->names = more;
  count->names[count->matching] = strdup(board->name);
  if (count->names[count->matching] == NULL) return -ENOMEM;
  count->matching++;
  return 0;
}

int range_loss(struct store *store, const struct query_range *range, uint64_t *loss) {
  struct board_count count = {.selector = range->selector};
  if (range->selector == NULL)
    return store_loss_in_range(store, NULL, range->from_ms, range->to_ms, loss);
  int error = store_boards(store, count_board, &count);
  if (error == 0 && count.matching == count.all)
    error = store_loss_in_range(store, NULL, range->from_ms, range->to_ms, loss);
  else
    for (uint32_t i = 0; i < count.matching && error == 0; i++)
      error = range_is_late(range)
                  ? -ETIMEDOUT
                  : store_loss_in_range(store, count.names[i], range->from_ms, range->to_ms, loss);
  for (uint32_t i = 0; i < count.matching; i++) free(count.names[i]);
  free(count.names);
  return error;
}
