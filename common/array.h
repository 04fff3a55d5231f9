/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by doubling. */
#ifndef COMMON_ARRAY_H
#define COMMON_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* ARRAY with room for one more than its COUNT entries of ENTRY_BYTES: as it is while COUNT is below
   *ROOM, else moved to twice that room (FIRST entries when there was none), as *ROOM then says.
   NULL when memory runs out: ARRAY and *ROOM stay as they were.  The caller frees.  (Five
   parameters: who grows has the array and its numbers in fields of its own.)  Any thread. */
void *array_grow(void *array, uint32_t count, uint32_t *room, uint32_t first, size_t entry_bytes);

#endif
