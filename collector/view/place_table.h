/* SPDX-License-Identifier: Apache-2.0 */
/* Each place once: a source line, an address in a file of code, or the two together. */
#ifndef VIEW_PLACE_TABLE_H
#define VIEW_PLACE_TABLE_H

#include "common/span.h"
#include "common/table.h"
#include "view.h"

enum { VIEW_PLACES_MAX = 4 << 20 };

enum place_part { PLACE_LINES = 1, PLACE_CODE = 2 };

struct place_table {
  unsigned parts; /* enum place_part: the parts kept of interned places */
  uint64_t seed;  /* of the hashes: boards choose the hashed data */
  struct table by_text;
  struct view_place *places;
  uint32_t count, room;
  struct table by_id;
  struct view_build *builds;
  uint32_t build_count, build_room;
};

/* Starts with one unknown place and one unknown build, index 0 each, and keeps only PLACE_LINES.
   Returns 0 or -errno; call fini in either case. */
int place_table_init(struct place_table *table);
void place_table_fini(struct place_table *table);

/* Finds WANTED or adds it; its file must outlive the table. RET is 0, the unknown place, if no kept
   part of WANTED is known. Returns 0, -EOVERFLOW over VIEW_PLACES_MAX, or -ENOMEM. */
int place_table_intern(struct place_table *table, const struct view_place *wanted, uint32_t *ret);

/* Finds the build ID or adds it. RET is 0, the unknown build, if ID is empty or longer than the
   limit. Returns 0 or -ENOMEM. */
int place_table_build(struct place_table *table, struct span id, uint32_t *ret);

#endif
