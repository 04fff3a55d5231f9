/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by place in machine code. */
#ifndef QUERY_DETAIL_SPOT_H
#define QUERY_DETAIL_SPOT_H

#include "common/table.h"

struct store_module;
struct symbolizer;

enum { DETAIL_SPOTS_MAX = 1 << 20 };

struct detail_spot {
  uint32_t build, code; /* numbers, the caller's */
  uint64_t offset;
  uint64_t weight, count;
};

/* All-zero is empty. */
struct detail_spots {
  uint64_t seed; /* of the hashes: strangers choose what is hashed */
  struct table by_place;
  struct detail_spot *spots;
  uint32_t count, room;
};

/* Adds SPOT's weight and count to those of its place.  Returns 0, -EOVERFLOW over DETAIL_SPOTS_MAX
   places, or -ENOMEM. */
int detail_spots_add(struct detail_spots *spots, const struct detail_spot *spot);
void detail_spots_fini(struct detail_spots *spots);

/* Returns how far ADDRESS lies from the start of the function that holds it, as BOARD's MODULE is
   named (SYMBOLIZER may be NULL): start <= address < start + size.  0 where no function is known,
   which is then named after the address itself. */
uint64_t detail_offset_of(struct symbolizer *symbolizer, const char *board,
                          const struct store_module *module, uint64_t address);

#endif
