/* SPDX-License-Identifier: Apache-2.0 */
/* THE FORMAT of a handler's walk data: the code mapped in the processes of one ring, and the
   offsets of its tables in the memory of tables (table_memory.h). The daemon writes it, and the
   target maps it read-only, so that no stray write of the program misleads its handler.

   There are two lists of regions: all that are mapped now, and those of them that were mapped when
   the program began, which are never unloaded. Only the latter are used while libraries are being
   unloaded.

   A third list has the mappings that can hold stacks made by the program itself: private, anonymous
   and writable mappings of processes that were sampled on a stack of that kind. */
#ifndef UNWIND_UNWIND_MAP_H
#define UNWIND_UNWIND_MAP_H

#include "unwind_walk.h"

#include <stdatomic.h>

enum {
  UNWIND_MAP_MAGIC = 0x4d4e5546, /* "FUNM" */
  UNWIND_MAP_VERSION = 2,
  UNWIND_MAP_REGIONS_MAX = 512, /* of each list */
  UNWIND_MAP_STACKS_MAX = 2048, /* for all processes */
  UNWIND_MAP_BYTES = 68 << 10,  /* total, in pages of 4 KiB */
  UNWIND_STACK_PID_SHIFT = 40,  /* addresses have up to 52 bits, pids 22 */
  UNWIND_TABLES_BYTES_MAX =
      8 << 20, /* tables; costs each target address space, and memory under mlockall */
};

enum unwind_map_list { UNWIND_MAP_ALL = 0, UNWIND_MAP_STEADY = 1, UNWIND_MAP_LISTS };

/* One mapping of one process, in pages of 4 KiB. */
struct unwind_stack_span {
  uint64_t key; /* pid << UNWIND_STACK_PID_SHIFT | number of the first page */
  uint64_t pages;
};

struct unwind_map {
  uint32_t magic, version;
  _Atomic uint32_t serial; /* odd while the rest changes */
  uint32_t unloads;        /* the ring's count when the mappings were read */
  uint32_t counts[UNWIND_MAP_LISTS];
  uint32_t stack_count;
  _Atomic uint32_t is_awaited; /* 1: the program waits at its start until the tables are there */
  uint32_t reserved[8];
  struct unwind_region regions[UNWIND_MAP_LISTS][UNWIND_MAP_REGIONS_MAX];
  struct unwind_stack_span stacks[UNWIND_MAP_STACKS_MAX]; /* sorted by key, disjoint */
};

_Static_assert(sizeof(struct unwind_map) <= UNWIND_MAP_BYTES, "the map outgrew its room");

/* The addresses of map and tables in a target. */
struct unwind_shared {
  const struct unwind_map *map; /* NULL: there is none */
  uintptr_t tables, tables_bytes;
};

/* Fills RET with the code that is valid at the ring's count UNLOADS, for one walk. Returns false if
   there is none yet, or the map is being changed.  Signal-safe. */
bool unwind_map_begin(const struct unwind_shared *shared, uint32_t unloads, struct unwind_code *ret,
                      uint32_t *ret_serial);

/* True if nothing has changed since RET_SERIAL was taken: the walk is valid.  Signal-safe. */
bool unwind_map_holds(const struct unwind_map *map, uint32_t serial);

/* The end of the published mapping of process PID that contains SP. 0 if there is none, or the map
   changes.  Signal-safe. */
uintptr_t unwind_map_stack_end(const struct unwind_map *map, uint32_t serial, uint32_t pid,
                               uintptr_t sp);

static inline uint64_t unwind_stack_key(uint32_t pid, uint64_t address) {
  return (uint64_t)pid << UNWIND_STACK_PID_SHIFT | address / 4096;
}

#endif
