/* SPDX-License-Identifier: Apache-2.0 */
/* Each line of source once. */
#ifndef VIEW_PLACE_TABLE_H
#define VIEW_PLACE_TABLE_H

#include "common/table.h"
#include "view.h"

enum { VIEW_PLACES_MAX = 4 << 20 };

struct place_table {
  uint64_t seed; /* of the hashes: strangers choose what is hashed */
  struct table by_text;
  struct view_place *places;
  uint32_t count, room;
};

/* Starts with one place, index 0, that is not known.  Returns 0 or -errno; fini in either case. */
int place_table_init(struct place_table *table);
void place_table_fini(struct place_table *table);

/* Finds WANTED, whose file outlives the table, or adds it; not known when neither file nor line
   is.  Returns 0, -EOVERFLOW over VIEW_PLACES_MAX, or -ENOMEM. */
int place_table_intern(struct place_table *table, const struct view_place *wanted, uint32_t *ret);

#endif
