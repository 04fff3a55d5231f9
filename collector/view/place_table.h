/* SPDX-License-Identifier: Apache-2.0 */
/* Each place once: a line of source, an address in a file of code, or the two together. */
#ifndef VIEW_PLACE_TABLE_H
#define VIEW_PLACE_TABLE_H

#include "common/span.h"
#include "common/table.h"
#include "view.h"

enum { VIEW_PLACES_MAX = 4 << 20 };

enum place_part { PLACE_LINES = 1, PLACE_CODE = 2 };

struct place_table {
  unsigned parts; /* enum place_part: of what is interned these are kept */
  uint64_t seed;  /* of the hashes: strangers choose what is hashed */
  struct table by_text;
  struct view_place *places;
  uint32_t count, room;
  struct table by_id;
  struct view_build *builds;
  uint32_t build_count, build_room;
};

/* Starts with one place and one build, index 0 each, that are not known; keeps PLACE_LINES alone.
   Returns 0 or -errno; fini in either case. */
int place_table_init(struct place_table *table);
void place_table_fini(struct place_table *table);

/* Finds WANTED, whose file outlives the table, or adds it; not known when nothing of it is that is
   kept.  Returns 0, -EOVERFLOW over VIEW_PLACES_MAX, or -ENOMEM. */
int place_table_intern(struct place_table *table, const struct view_place *wanted, uint32_t *ret);

/* Finds the build ID, or adds it; not known when ID is empty or longer than any.  Returns 0 or
   -ENOMEM. */
int place_table_build(struct place_table *table, struct span id, uint32_t *ret);

#endif
