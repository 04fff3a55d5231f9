/* SPDX-License-Identifier: Apache-2.0 */
/* By what the samples of an answer are told apart. */
#ifndef QUERY_GROUPING_H
#define QUERY_GROUPING_H

#include "common/near_word.h"
#include "naming.h"
#include "walk.h"

enum { GROUPING_LABEL_BYTES = 256 }; /* of a name that is suggested */

/* Caller's storage; a group is an entry of the table: its name, and of a function its module and
   file.  Entry 0 is no group. */
struct grouping {
  const char *by;
  struct function_table groups;
  struct naming naming;
  uint64_t forest_id;  /* that is being shown */
  uint32_t *of_module; /* of it: group, 0 not known yet */
  uint32_t module_room;
  uint32_t of_block;     /* where all rows of a block are one group's */
  bool has_label;        /* by a label: any sample had it */
  struct near_word near; /* while none had: the label most like it */
  char nearest[GROUPING_LABEL_BYTES];
};

/* Groups samples BY "function", "module" (each that of the leaf: where the time is spent), or a
   label, or not at all (NULL: one group).  Names are kept in ARENA; borrows BY and SYMBOLIZER,
   which may be NULL.  Returns 0 or -errno; fini in either case. */
int grouping_init(struct grouping *grouping, const char *by, struct symbolizer *symbolizer,
                  struct arena *arena);
void grouping_fini(struct grouping *grouping);

/* Whether all rows of a block are in one group. */
bool grouping_is_by_block(const char *by);

/* BLOCK comes next.  Returns 0, -EOVERFLOW over VIEW_FUNCTIONS_MAX groups, or -ENOMEM. */
int grouping_turn(struct grouping *grouping, const struct walk_block *block);

/* Finds the group of ROW, one of the BLOCK that grouping_turn was told of.  Returns as that. */
int grouping_find(struct grouping *grouping, const struct walk_block *block,
                  const struct store_row *row, uint32_t *ret);

/* Whether samples are told apart BY something that every sample has, be it empty: then a name that
   none had is no mistake. */
bool grouping_is_known(const char *by);

/* Returns the label that somebody may have meant who asked for one that no sample had, kept in
   ARENA; "" when none is like it. */
const char *grouping_nearest(const struct grouping *grouping, struct arena *arena);

#endif
