/* SPDX-License-Identifier: Apache-2.0 */
/* Losses are recorded by board, but selections are by series. So an answer includes all losses
   of each board that may match, whichever program they belong to. */
#include "range.h"

#include "common/array.h"
#include "query.h"
#include "selector.h"
#include "store/store_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool range_wants(const struct query_range *range, const struct store_series *series) {
  return range->selector == NULL || selector_matches(range->selector, series);
}

struct matching {
  const struct selector *selector;
  uint32_t board_count; /* of all */
  uint32_t count, room;
  char **names; /* of boards that match, in order */
};

static int add_matching(void *context, const struct store_board *board) {
  struct matching *matching = context;
  matching->board_count++;
  if (!selector_may_match_board(matching->selector, board->name)) return 0;
  char **more = array_grow(matching->names, matching->count, &matching->room, 16, sizeof *more);
  if (more == NULL) return -ENOMEM;
  matching->names = more;
  char *copy = strdup(board->name);
  if (copy == NULL) return -ENOMEM;
  matching->names[matching->count++] = copy;
  return 0;
}

int range_loss(struct store *store, const struct query_range *range, uint64_t *loss) {
  struct matching matching = {.selector = range->selector};
  int error = range->selector != NULL ? store_boards(store, add_matching, &matching) : 0;
  const struct store_names names = {(const char *const *)matching.names, matching.count};
  bool are_all = matching.count == matching.board_count, is_none = matching.count == 0 && !are_all;
  if (error == 0 && !is_none)
    error = store_loss_in_range(store, are_all ? NULL : &names, range->from_ms, range->to_ms,
                                range->cutoff, loss);
  for (uint32_t i = 0; i < matching.count; i++) free(matching.names[i]);
  free(matching.names);
  return error;
}
