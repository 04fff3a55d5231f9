/* SPDX-License-Identifier: Apache-2.0 */
/* Names of others' that a module's own symbols contradict. */
#ifndef SYMBOL_FALSE_NAME_H
#define SYMBOL_FALSE_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct symbol_frame;
struct symbol_index;

/* Whether TOLD, what somebody else says of ADDRESS, is a name alone (without a source line), and
   INDEX knows better: ADDRESS lies in a function whose bounds are known and whose name is not, and
   TOLD is the last name before that, of a function that ends before ADDRESS.  Any thread. */
bool false_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told);

#endif
