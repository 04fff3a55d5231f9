/* SPDX-License-Identifier: Apache-2.0 */
/* The handler's half of a sequence lock.  It walks with regions that the daemon may change at the
   same time, and looks at the serial again behind the walk: what was found with a torn map is
   thrown away.  Until then it must do no harm, and cannot: counts are cut to the room that there
   is, a region only says which code and which table are meant, a place where no whole table lies
   is none, and what a wrong table says leads to loads within the thread's own stack or to none
   (unwind_walk.c).

   A library may be gone before the daemon hears of it, and another stand in its place.  So a
   program counts each unloading in its ring, before and after; where the count is not that of the
   map, only what the program began with is believed.  (drain/unloads.c does the same for names.) */
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
  /* The second look comes after what was read: partner of the fence at the start of a change. */
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
  /* Before the first word of that stack is read: a torn span may end anywhere. */
  if (!unwind_map_holds(map, serial) || key - first >= pages) return 0;
  return (sp / 4096 + (uintptr_t)(first + pages - key)) * 4096;
}
