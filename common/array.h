/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by doubling. */
#ifndef COMMON_ARRAY_H
#define COMMON_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Makes room in ARRAY for one more than its COUNT entries of ENTRY_BYTES. Returns ARRAY itself
   while COUNT is below *ROOM. Otherwise doubles the room (initially FIRST entries), updates *ROOM,
   and returns the moved array. NULL if memory is short: ARRAY and *ROOM are unchanged. The caller
   frees.  (Five parameters, because callers have the array and its numbers in their own fields.)
   Any thread. */
void *array_grow(void *array, uint32_t count, uint32_t *room, uint32_t first, size_t entry_bytes);

#endif
