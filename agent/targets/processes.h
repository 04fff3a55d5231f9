/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of all targets, by number.  Built from the kernel's records where there are any,
   else from /proc. */
#ifndef TARGETS_PROCESSES_H
#define TARGETS_PROCESSES_H

#include "process_entry.h"

enum {
  PROCESSES_MAX = 4096,
  PROCESSES_CROWDED = 1024, /* so many are many */
};

struct processes;

int processes_new(struct modules *modules, struct processes **ret);
void processes_free(struct processes *processes);

/* Returns PID's entry or NULL. */
struct process *processes_find(const struct processes *processes, pid_t pid);

/* Returns PID's entry in TARGET; what is not known yet is read from /proc (the maps from MAPS_FD
   when it is not -1).  NULL when memory ran out or PROCESSES_MAX of them live. */
struct process *processes_get(struct processes *processes, pid_t pid, uint32_t target, int maps_fd);

/* PARENT has forked CHILD: the same mappings, program and name.  NULL as above. */
struct process *processes_fork(struct processes *processes, const struct process *parent,
                               pid_t child);
/* A mapping of FILE in PROCESS came: MAP's module is filled in here. */
void process_map_add(struct processes *processes, struct process *process,
                     const struct process_map *map, const struct module_file *file);

/* Reads the mappings (and thread names at their next use) again: of a process that is new ten times
   a second at most, later, or where that brings nothing new, once a second.  Returns true when they
   were read. */
bool process_refresh(struct processes *processes, struct process *process, int maps_fd);
/* Reads the mappings again, now.  UNLOADS: what the ring says at this moment. */
void process_read_maps(struct processes *processes, struct process *process, int maps_fd,
                       uint32_t unloads);

/* Turns COUNT program counters, leaf first, into frames.  Callers are return addresses and get the
   address before it, which is inside the call.  The stack ends at the first caller outside of
   executable memory.  Returns the number of frames, at least 1. */
uint32_t process_resolve(struct processes *processes, struct process *process, const uint64_t *pc,
                         uint32_t count, struct code_frame *ret);

/* Looks at TARGET's living processes: the CPU time of each, and in sum their threads and the time
   of them and of the children they waited for. */
struct processes_sum {
  uint32_t processes, threads;
  uint64_t cpu_ns, system_ns;
  uint64_t waited_ns; /* of cpu_ns: that of the children */
  uint32_t waiters;   /* processes that have waited for children */
  uint64_t clock_ns;  /* without children, to the nanosecond; read before the others */
  uint64_t ended_ns;  /* of clock_ns: threads that have ended, as the kernel's records said */
  uint64_t zombie_ns; /* by the clocks of those that have ended and were not waited for yet */
  bool is_partial;    /* of one that has ended the record of its time is still to come */
};
void processes_sum_target(struct processes *processes, uint32_t target, struct processes_sum *ret);

typedef void processes_visit(void *context, struct process *process);
/* Calls VISIT for each of TARGET's processes, the ended ones that are still known included. */
void processes_each(struct processes *processes, uint32_t target, processes_visit *visit,
                    void *context);

/* Many have come and gone since the last sweep: time to settle their accounts. */
bool processes_is_crowded(const struct processes *processes);
/* Forgets those that have ended and are not awaited. */
void processes_remove_ended(struct processes *processes);

/* All records of those that have ended were taken: their numbers may be used again. */
void processes_mark_over(struct processes *processes);

void processes_forget_pid(struct processes *processes, pid_t pid);
void processes_forget_target(struct processes *processes, uint32_t target);
/* Between two windows: forgets the processes that have ended, and the idlest when there are too
   many; marks the modules of the rest. */
void processes_sweep(struct processes *processes);

#endif
