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
  uint32_t build, code; /* numbers, the caller's */
  uint64_t address;     /* in the module */
  uint64_t offset;      /* from the start of CODE, where HAS_OFFSET says that it is known */
  bool has_offset;
  uint64_t count;
  wide_sum weight;
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

/* Sets SPOT's address and offset to those of LEAF, a node of FOREST: how far it lies from the start
   of the function that holds it, as NAMING names it now.  That is 0 where no function is
   known, which is then named after the address itself, and not known where a translator tells of a
   function and nobody where it begins. */
void detail_spot_place(struct naming *naming, const struct store_forest *forest,
                       const struct store_node *leaf, struct detail_spot *spot);

#endif
