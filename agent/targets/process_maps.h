/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings inside struct process. */
#ifndef TARGETS_PROCESS_MAPS_H
#define TARGETS_PROCESS_MAPS_H

#include "process_entry.h"

/* Inserts MAP and clears the range that it overlaps. Beyond PROCESS_MAPS_MAX mappings it is left
   out. */
void process_maps_insert(struct process *process, const struct process_map *map);

/* MAP, of no named file, is about to replace a file's text. If that is the program's own, which is
   never unloaded, MAP becomes that text; else it is marked as unproved. */
void process_maps_note_moved(const struct process *process, struct process_map *map);

/* Replaces the mappings by those in MAPS_FD (-1: /proc/PID/maps). Returns 0, or -errno with the old
   mappings unchanged; -ESRCH if the text is empty. */
int process_maps_read(struct modules *modules, struct process *process, int maps_fd);

/* PROCESS was forked from FIRST and its mappings can no longer be read: copies FIRST's. */
void process_copy_maps(struct process *process, const struct process *first);
/* Keeps PROCESS's mappings steady only if they are steady in FIRST, from which it was forked. */
void process_inherit_steady(struct process *process, const struct process *first);

/* The address of PC, in MAP of PROCESS, in its module's own address space; 0 if no file is known.
   MAP's module is identified. */
uint64_t process_map_address(const struct modules *modules, const struct process *process,
                             struct process_map *map, uint64_t pc);

/* process_resolve (processes.h). */
uint32_t process_maps_resolve(struct modules *modules, struct process *process, const uint64_t *pc,
                              uint32_t count, struct code_frame *ret);

/* True if PC is in a known executable mapping of certain identity. */
bool process_has_code(const struct process *process, uint64_t pc);

/* A timer's walk with these COUNT frames ended for lack of a table: marks the modules of all of
   them as needed (modules.h). */
void process_maps_need(struct modules *modules, const struct process *process, const uint64_t *pc,
                       uint32_t count);

#endif
