/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings inside struct process. */
#ifndef TARGETS_PROCESS_MAPS_H
#define TARGETS_PROCESS_MAPS_H

#include "process_entry.h"

/* Puts MAP in its place; what it overlaps gives way.  Beyond PROCESS_MAPS_MAX it is left out. */
void process_maps_insert(struct process *process, const struct process_map *map);

/* MAP, of no file that has a name, is about to come into the place of a file's text.  Where that is
   the program's own, which nothing unloads, MAP is made that text; else it is marked unproved. */
void process_maps_note_moved(const struct process *process, struct process_map *map);

/* Replaces the mappings by what MAPS_FD (-1: /proc/PID/maps) says.  Returns 0, or -errno with the
   old ones in place; -ESRCH when the text is empty. */
int process_maps_read(struct modules *modules, struct process *process, int maps_fd);

/* PROCESS was forked from FIRST and has no mappings any more: it had these. */
void process_copy_maps(struct process *process, const struct process *first);
/* Of PROCESS's mappings only those are steady that are so in FIRST, where it was forked from. */
void process_inherit_steady(struct process *process, const struct process *first);

/* The address that PC, in MAP of PROCESS, has in its module's own address space; 0 where no file is
   known.  MAP's module is identified. */
uint64_t process_map_address(const struct modules *modules, const struct process *process,
                             struct process_map *map, uint64_t pc);

/* process_resolve (processes.h). */
uint32_t process_maps_resolve(struct modules *modules, struct process *process, const uint64_t *pc,
                              uint32_t count, struct code_frame *ret);

/* True when PC is in a known executable mapping, and known to be what it is called. */
bool process_has_code(const struct process *process, uint64_t pc);

/* A timer's walk with these COUNT frames ended for want of a table: the modules of all of them are
   needed (modules.h). */
void process_maps_need(struct modules *modules, const struct process *process, const uint64_t *pc,
                       uint32_t count);

#endif
