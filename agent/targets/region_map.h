/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of unwind/unwind_map.h: a target's map of regions. */
#ifndef TARGETS_REGION_MAP_H
#define TARGETS_REGION_MAP_H

#include "unwind/unwind_map.h"

/* The new contents of a map. */
struct region_lists {
  uint32_t unloads;
  uint32_t counts[UNWIND_MAP_LISTS];
  struct unwind_region regions[UNWIND_MAP_LISTS][UNWIND_MAP_REGIONS_MAX];
  uint32_t stack_count;
  struct unwind_stack_span stacks[UNWIND_MAP_STACKS_MAX];
};

/* Makes an empty map. If IS_AWAITED, its program waits for it at its start. Returns its descriptor
   or -errno. */
int region_map_make(bool is_awaited);

/* Lets the program of MAP continue its start. */
void region_map_let_begin(struct unwind_map *map);

/* Maps FD for the worker. NULL on failure. */
struct unwind_map *region_map_open(int fd);
void region_map_close(struct unwind_map *map);

/* Writes LISTS to MAP, of FD, unless it has them already. Returns 0, or -errno if there is no
   memory for it; MAP is then unchanged. */
int region_map_put(struct unwind_map *map, int fd, const struct region_lists *lists);

/* True if the range [START, END) of the process was in LIST at the last region_map_put. */
bool region_map_had(const struct unwind_map *map, enum unwind_map_list list, uint64_t start,
                    uint64_t end);

#endif
