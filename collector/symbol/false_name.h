/* SPDX-License-Identifier: Apache-2.0 */
/* Names from other symbolizers that contradict a module's own symbols. */
#ifndef SYMBOL_FALSE_NAME_H
#define SYMBOL_FALSE_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct symbol_frame;
struct symbol_index;

/* Whether TOLD, another symbolizer's answer for ADDRESS, contradicts INDEX. TOLD must be a name
   without a source line. It does if ADDRESS is in a known function and TOLD is another function
   that ends before ADDRESS. If the function of ADDRESS has no name, only the last name before it is
   compared. Any thread. */
bool false_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told);

#endif
