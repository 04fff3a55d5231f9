/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RING_POWER_OF_TWO_H
#define RING_POWER_OF_TWO_H

#include <stdbool.h>
#include <stdint.h>

/* Slots and bins have sizes that are powers of two.  Signal-safe. */
static inline bool is_power_of_two(uint32_t number) {
  return number != 0 && (number & (number - 1)) == 0;
}

#endif
