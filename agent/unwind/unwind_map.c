/* SPDX-License-Identifier: Apache-2.0 */
/* The handler's side of a sequence lock. The handler walks with regions that the daemon may change
   concurrently, and checks the serial again after the walk. A result from an inconsistent map is
   discarded. Until then an inconsistent map must be harmless, and is. Counts are limited to the
   room. A region only names a piece of code and a table. A place without a whole table counts as no
   table. A wrong table leads to loads within the thread's own stack, or to none (unwind_walk.c).

   A library may be unloaded before the daemon notices, and another may take its place. So a program
   counts each unloading in its ring, before and after. If the count differs from the map's, only
   the regions from the program's start are used. (drain/unloads.c does the same for names.) */
#include "unwind_map.h"

#include <stddef.h>

static uint32_t look(const uint32_t *word) {
  return *(const volatile uint32_t *)word;
}

bool unwind_map_begin(const struct unwind_shared *shared, uint32_t unloads, struct unwind_code *ret,
                      uint32_t *ret_serial) {
  const struct unwind_map *map = shared->map;
  /* Acquire: partner of the daemon's release at the end of a change. */
  uint32_t serial = atomic_load_explicit(&map->serial, memory_order_acquire);
  if (serial % 2 != 0) return false;
  unsigned list = look(&map->unloads) == unloads ? UNWIND_MAP_ALL : UNWIND_MAP_STEADY;
  uint32_t count = look(&map->counts[list]);
  if (count == 0 || count > UNWIND_MAP_REGIONS_MAX) return false;
  ret->regions = map->regions[list];
  ret->count = count;
  ret->tables = shared->tables;
  ret->tables_bytes = shared->tables_bytes;
  ret->is_partial = true;
  *ret_serial = serial;
  return true;
}

bool unwind_map_holds(const struct unwind_map *map, uint32_t serial) {
  /* This second load follows the reads above: partner of the fence at the start of a change. */
  atomic_thread_fence(memory_order_acquire);
  return atomic_load_explicit(&map->serial, memory_order_relaxed) == serial;
}

static uint64_t look_wide(const uint64_t *word) {
  return *(const volatile uint64_t *)word;
}

uintptr_t unwind_map_stack_end(const struct unwind_map *map, uint32_t serial, uint32_t pid,
                               uintptr_t sp) {
  uint64_t key = unwind_stack_key(pid, sp);
  uint32_t low = 0, high = look(&map->stack_count);
  if (high > UNWIND_MAP_STACKS_MAX) return 0;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (look_wide(&map->stacks[middle].key) <= key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return 0;
  uint64_t first = look_wide(&map->stacks[low - 1].key);
  uint64_t pages = look_wide(&map->stacks[low - 1].pages);
  /* Before the first word of that stack is read: an inconsistent span may end anywhere. */
  if (!unwind_map_holds(map, serial) || key - first >= pages) return 0;
  return (sp / 4096 + (uintptr_t)(first + pages - key)) * 4096;
}
