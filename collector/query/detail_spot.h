/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by place in machine code. */
#ifndef QUERY_DETAIL_SPOT_H
#define QUERY_DETAIL_SPOT_H

#include "common/sums.h"
#include "common/table.h"

#include <stdbool.h>

struct naming;
struct store_forest;
struct store_node;

enum { DETAIL_SPOTS_MAX = 1 << 20 };

struct detail_spot {
  uint32_t build, code; /* numbers chosen by the caller */
  uint64_t address;     /* in the module */
  uint64_t offset;      /* from the start of CODE, valid if HAS_OFFSET */
  bool has_offset;
  uint64_t count;
  wide_sum weight;
};

/* All-zero is empty. */
struct detail_spots {
  uint64_t seed; /* of the hashes: boards choose the hashed data */
  struct table by_place;
  struct detail_spot *spots;
  uint32_t count, room;
};

/* Adds SPOT's weight and count to its place. Returns 0; -EOVERFLOW above DETAIL_SPOTS_MAX places;
   or -ENOMEM. */
int detail_spots_add(struct detail_spots *spots, const struct detail_spot *spot);
void detail_spots_fini(struct detail_spots *spots);

/* Sets SPOT's address and offset for LEAF, a node of FOREST. The offset is the distance from the
   start of its function, by the present names of NAMING. It is 0 if no function is known, as the
   function is then named by the address itself. It is unknown (has_offset is false) if a translator
   reports the function and no source has its start. */
void detail_spot_place(struct naming *naming, const struct store_forest *forest,
                       const struct store_node *leaf, struct detail_spot *spot);

#endif
