/* SPDX-License-Identifier: Apache-2.0 */
/* Names of others' that a module's own symbols contradict. */
#ifndef SYMBOL_FALSE_NAME_H
#define SYMBOL_FALSE_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct symbol_frame;
struct symbol_index;

/* Whether TOLD, what somebody else says of ADDRESS, is a name alone (without a source line), and
   INDEX knows better: ADDRESS lies in a known function, and TOLD is another that ends before it.
   Where the name of ADDRESS's function is not known, only the last one with a name before it is
   meant.  Any thread. */
bool false_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told);

#endif
