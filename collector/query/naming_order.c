/* SPDX-License-Identifier: Apache-2.0 */
/* A radix sort, digit by digit from the lowest: comparing would take longer than the address
   lookups that the order speeds up. A digit that is equal in all keys (the upper digits of a
   module's number) costs one count. */
#include "naming_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, FIRST_ROOM = 1024 };

void naming_order_fini(struct naming_order *order) {
  free(order->frames);
  free(order->spare);
}

static int make_room(struct naming_order *order) {
  uint32_t wanted = order->room > 0 ? order->room * 2 : FIRST_ROOM;
  struct naming_frame *frames = reallocarray(order->frames, wanted, sizeof *frames);
  if (frames == NULL) return -ENOMEM;
  order->frames = frames;
  struct naming_frame *spare = reallocarray(order->spare, wanted, sizeof *spare);
  if (spare == NULL) return -ENOMEM;
  order->spare = spare;
  order->room = wanted;
  return 0;
}

int naming_order_add(struct naming_order *order, const struct store_forest *forest, uint32_t node) {
  const struct store_node *frame = &forest->nodes[node];
  int error = order->count == order->room ? make_room(order) : 0;
  if (error != 0) return error;
  uint64_t key = (uint64_t)frame->module << 32 | (uint32_t)frame->address;
  order->frames[order->count++] = (struct naming_frame){key, node};
  return 0;
}

/* Sorts stably by the digit at SHIFT. */
static void sort_by_digit(struct naming_order *order, unsigned shift) {
  uint32_t places[DIGITS] = {0};
  for (uint32_t i = 0; i < order->count; i++)
    places[order->frames[i].key >> shift & (DIGITS - 1)]++;
  if (places[order->frames[0].key >> shift & (DIGITS - 1)] == order->count) return;
  uint32_t place = 0;
  for (uint32_t digit = 0; digit < DIGITS; digit++) {
    uint32_t times = places[digit];
    places[digit] = place;
    place += times;
  }
  for (uint32_t i = 0; i < order->count; i++) {
    const struct naming_frame *frame = &order->frames[i];
    order->spare[places[frame->key >> shift & (DIGITS - 1)]++] = *frame;
  }
  struct naming_frame *sorted = order->spare;
  order->spare = order->frames;
  order->frames = sorted;
}

void naming_order_sort(struct naming_order *order) {
  if (order->count < 2) return;
  for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) sort_by_digit(order, shift);
}
