/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings inside struct process; used by processes.c alone. */
#ifndef TARGETS_PROCESS_MAPS_H
#define TARGETS_PROCESS_MAPS_H

#include "processes.h"

/* Puts MAP in its place; what it overlaps gives way.  Beyond PROCESS_MAPS_MAX it is left out. */
void process_maps_insert(struct process *process, const struct process_map *map);

/* Replaces the mappings by what MAPS_FD (-1: /proc/PID/maps) says.  Returns 0, or -errno with the
   old ones in place; -ESRCH when the text is empty. */
int process_maps_read(struct modules *modules, struct process *process, int maps_fd);

/* process_resolve (processes.h). */
uint32_t process_maps_resolve(struct modules *modules, struct process *process, const uint64_t *pc,
                              uint32_t count, struct code_frame *ret);

#endif
