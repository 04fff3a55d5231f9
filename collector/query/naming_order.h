/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a forest, ordered by module and address. */
#ifndef QUERY_NAMING_ORDER_H
#define QUERY_NAMING_ORDER_H

#include "store/store_read.h"

struct naming_frame {
  uint64_t key; /* equal for equal frames, possibly for others too */
  uint32_t node;
};

/* All-zero is empty. */
struct naming_order {
  struct naming_frame *frames, *spare;
  uint32_t count, room;
};

void naming_order_fini(struct naming_order *order);

/* Appends NODE of FOREST. Returns 0 or -ENOMEM. */
int naming_order_add(struct naming_order *order, const struct store_forest *forest, uint32_t node);

/* Sorts the frames by module, and within it by the lower half of the address. The order is exact
   for modules below 4 GiB, and still useful for others. */
void naming_order_sort(struct naming_order *order);

#endif
