/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a forest in the order of their modules and addresses. */
#ifndef QUERY_NAMING_ORDER_H
#define QUERY_NAMING_ORDER_H

#include "store/store_read.h"

struct naming_frame {
  uint64_t key; /* equal frames have equal ones, others may, too */
  uint32_t node;
};

/* All-zero is a valid empty one. */
struct naming_order {
  struct naming_frame *frames, *spare;
  uint32_t count, room;
};

void naming_order_fini(struct naming_order *order);

/* Adds NODE of FOREST behind what is there.  Returns 0 or -ENOMEM. */
int naming_order_add(struct naming_order *order, const struct store_forest *forest, uint32_t node);

/* Sorts what was added by module, and by the lower half of the address within it: exact for
   modules below 4 GiB, and for others a good order, too. */
void naming_order_sort(struct naming_order *order);

#endif
