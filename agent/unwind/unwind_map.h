/* SPDX-License-Identifier: Apache-2.0 */
/* THE FORMAT of what a handler walks with: which code is mapped where in the processes of one ring,
   and where in the memory of tables (table_memory.h) its table is.  Written by the daemon, mapped
   read-only by the target, so that no program's stray write leads its handler astray.

   Two lists: all that is mapped now, and of that what was mapped when the program began, which
   nothing unloads: the latter alone is believed while libraries come and go.

   A third list has the mappings that can hold stacks which the program makes itself: private,
   anonymous and writable ones, of those processes that were sampled on such a stack. */
#ifndef UNWIND_UNWIND_MAP_H
#define UNWIND_UNWIND_MAP_H

#include "unwind_walk.h"

#include <stdatomic.h>

enum {
  UNWIND_MAP_MAGIC = 0x4d4e5546, /* "FUNM" */
  UNWIND_MAP_VERSION = 2,
  UNWIND_MAP_REGIONS_MAX = 512, /* of each list */
  UNWIND_MAP_STACKS_MAX = 2048, /* of all processes */
  UNWIND_MAP_BYTES = 68 << 10,  /* of the whole, in pages of 4 KiB */
  UNWIND_STACK_PID_SHIFT = 40,  /* addresses have up to 52 bits, pids 22 */
  UNWIND_TABLES_BYTES_MAX =
      8 << 20, /* beside it: each target's address space, mlockall's to fill */
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
  uint32_t unloads;        /* of the ring, when the mappings were read */
  uint32_t counts[UNWIND_MAP_LISTS];
  uint32_t stack_count;
  _Atomic uint32_t is_awaited; /* 1: the program waits at its start until the tables are there */
  uint32_t reserved[8];
  struct unwind_region regions[UNWIND_MAP_LISTS][UNWIND_MAP_REGIONS_MAX];
  struct unwind_stack_span stacks[UNWIND_MAP_STACKS_MAX]; /* by key, disjoint */
};

_Static_assert(sizeof(struct unwind_map) <= UNWIND_MAP_BYTES, "the map outgrew its room");

/* Where a target has them. */
struct unwind_shared {
  const struct unwind_map *map; /* NULL: there is none */
  uintptr_t tables, tables_bytes;
};

/* Fills RET with the code that may be believed by a ring that says UNLOADS, for one walk.  Returns
   false when there is none yet, or it is being changed.  Signal-safe. */
bool unwind_map_begin(const struct unwind_shared *shared, uint32_t unloads, struct unwind_code *ret,
                      uint32_t *ret_serial);

/* True when nothing has changed since RET_SERIAL above: what was walked is true.  Signal-safe. */
bool unwind_map_holds(const struct unwind_map *map, uint32_t serial);

/* The end of the published mapping of process PID that holds SP; 0: none, or the map changes.
   Signal-safe. */
uintptr_t unwind_map_stack_end(const struct unwind_map *map, uint32_t serial, uint32_t pid,
                               uintptr_t sp);

static inline uint64_t unwind_stack_key(uint32_t pid, uint64_t address) {
  return (uint64_t)pid << UNWIND_STACK_PID_SHIFT | address / 4096;
}

#endif
