/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's half of unwind/unwind_map.h: one target's map of regions. */
#ifndef TARGETS_REGION_MAP_H
#define TARGETS_REGION_MAP_H

#include "unwind/unwind_map.h"

/* What is to stand in a map. */
struct region_lists {
  uint32_t unloads;
  uint32_t counts[UNWIND_MAP_LISTS];
  struct unwind_region regions[UNWIND_MAP_LISTS][UNWIND_MAP_REGIONS_MAX];
  uint32_t stack_count;
  struct unwind_stack_span stacks[UNWIND_MAP_STACKS_MAX];
};

/* Makes an empty map, for which its program waits at its start if IS_AWAITED.  Returns its
   descriptor or -errno. */
int region_map_make(bool is_awaited);

/* The program of MAP need not wait any longer. */
void region_map_let_begin(struct unwind_map *map);

/* Maps FD for the worker.  NULL when that cannot be. */
struct unwind_map *region_map_open(int fd);
void region_map_close(struct unwind_map *map);

/* Makes MAP, of FD, what LISTS say, unless it is that already.  Returns 0, or -errno when there is
   no memory for more of it: it stays as it is. */
int region_map_put(struct unwind_map *map, int fd, const struct region_lists *lists);

/* True when the part [START, END) of the process was in LIST when it was put last. */
bool region_map_had(const struct unwind_map *map, enum unwind_map_list list, uint64_t start,
                    uint64_t end);

#endif
