/* SPDX-License-Identifier: Apache-2.0 */
/* Groups the samples of an answer. */
#ifndef QUERY_GROUPING_H
#define QUERY_GROUPING_H

#include "common/near_word.h"
#include "naming.h"
#include "walk.h"

enum { GROUPING_LABEL_BYTES = 256 }; /* of a suggested label */

/* Caller's storage. A group is an entry of the table: its name, and for a function also its module
   and file. Entry 0 is no group. */
struct grouping {
  const char *by;
  struct function_table groups;
  struct naming naming;
  uint64_t forest_id;  /* of the current forest */
  uint32_t *of_module; /* group of each module in it; 0: not yet known */
  uint32_t module_room;
  uint32_t of_block;     /* group of all rows of a block, if they have one group */
  bool has_label;        /* by a label: a sample has it */
  struct near_word near; /* until then: the most similar label */
  char nearest[GROUPING_LABEL_BYTES];
};

/* Groups samples BY "function" or "module" (those of the leaf, where the time is spent), by a
   label, or not at all (NULL: one group). Copies names to ARENA; borrows BY and SYMBOLIZER, which
   may be NULL. Returns 0 or -errno; call fini in either case. */
int grouping_init(struct grouping *grouping, const char *by, struct symbolizer *symbolizer,
                  struct arena *arena);
void grouping_fini(struct grouping *grouping);

/* Returns whether all rows of a block are in one group. */
bool grouping_is_by_block(const char *by);

/* Makes BLOCK current. Returns 0; -EOVERFLOW above VIEW_FUNCTIONS_MAX groups; or -ENOMEM. */
int grouping_turn(struct grouping *grouping, const struct walk_block *block);

/* Finds the group of ROW in BLOCK, the current block. Returns as grouping_turn. */
int grouping_find(struct grouping *grouping, const struct walk_block *block,
                  const struct store_row *row, uint32_t *ret);

/* Returns whether every sample has BY, possibly empty. If so, a name without samples is no
   mistake. */
bool grouping_is_known(const char *by);

/* Returns a suggestion for a label that no sample has, in ARENA; "" if none is similar. */
const char *grouping_nearest(const struct grouping *grouping, struct arena *arena);

#endif
