/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of all targets, by pid. Built from the kernel's records if there are any, else from
   /proc. */
#ifndef TARGETS_PROCESSES_H
#define TARGETS_PROCESSES_H

#include "process_entry.h"

enum {
  PROCESSES_MAX = 4096,
  PROCESSES_CROWDED = 1024, /* processes_is_crowded */
};

struct processes;

int processes_new(struct modules *modules, struct processes **ret);
void processes_free(struct processes *processes);

/* Returns PID's entry or NULL. */
struct process *processes_find(const struct processes *processes, pid_t pid);

/* Returns PID's entry in TARGET; missing data is read from /proc (the maps from MAPS_FD unless that
   is -1). NULL if memory is short or PROCESSES_MAX of them live. */
struct process *processes_get(struct processes *processes, pid_t pid, uint32_t target, int maps_fd);

/* PARENT has forked CHILD, which gets the same mappings, program and name. NULL as above. */
struct process *processes_fork(struct processes *processes, const struct process *parent,
                               pid_t child);
/* FILE was mapped in PROCESS; sets MAP's module. */
void process_map_add(struct processes *processes, struct process *process,
                     const struct process_map *map, const struct module_file *file);

/* Reads the mappings (and thread names at their next use) again. At most ten times a second for a
   new process; later, or if that brings nothing new, once a second. Returns true if they were
   read. */
bool process_refresh(struct processes *processes, struct process *process, int maps_fd);
/* Reads the mappings again, now. UNLOADS: the ring's current count. */
void process_read_maps(struct processes *processes, struct process *process, int maps_fd,
                       uint32_t unloads);

/* Converts COUNT program counters, leaf first, into frames. Callers are return addresses and get
   the address minus one, which is inside the call. The stack ends at the first caller outside
   executable memory. Returns the number of frames, at least 1. */
uint32_t process_resolve(struct processes *processes, struct process *process, const uint64_t *pc,
                         uint32_t count, struct code_frame *ret);

/* Sums up TARGET's living processes: threads, CPU time, and the CPU time of the children they
   waited for. Also updates the CPU time of each. */
struct processes_sum {
  uint32_t processes, threads;
  uint64_t cpu_ns, system_ns;
  uint64_t waited_ns; /* the part of cpu_ns from these children */
  uint32_t waiters;   /* processes that have waited for children */
  uint64_t clock_ns;  /* without children, exact to the nanosecond; read before the others */
  uint64_t ended_ns;  /* part of clock_ns: ended threads, from the kernel's records */
  uint64_t zombie_ns; /* clocks of processes that have ended and were not waited for yet */
  bool is_partial;    /* the record of an ended process's CPU time is still missing */
};
void processes_sum_target(struct processes *processes, uint32_t target, struct processes_sum *ret);

typedef void processes_visit(void *context, struct process *process);
/* Calls VISIT for each of TARGET's processes, including ended ones still in the table. */
void processes_each(struct processes *processes, uint32_t target, processes_visit *visit,
                    void *context);

/* True if many processes have started and ended since the last sweep: their accounts should be
   closed. */
bool processes_is_crowded(const struct processes *processes);
/* Removes processes that have ended and are not awaited. */
void processes_remove_ended(struct processes *processes);

/* All records of ended processes were taken: their pids may be reused. */
void processes_mark_over(struct processes *processes);

void processes_forget_pid(struct processes *processes, pid_t pid);
void processes_forget_target(struct processes *processes, uint32_t target);
/* Between two windows: removes ended processes, and the most idle ones if there are too many; marks
   the modules of the others. */
void processes_sweep(struct processes *processes);

#endif
