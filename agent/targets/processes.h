/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the processes of all targets: names, threads, executable mappings.  Built from
   the kernel's records where there are any, else from /proc. */
#ifndef TARGETS_PROCESSES_H
#define TARGETS_PROCESSES_H

#include "modules.h"
#include "process_clock.h"

#include "proc/proc_stat.h"

enum {
  PROCESSES_MAX = 4096,
  PROCESSES_CROWDED = 1024,
  PROCESS_MAPS_MAX = 1024,   /* executable mappings of one process */
  PROCESS_THREADS_MAX = 512, /* names kept; further threads go under the process's name */
};

/* CPU time of one process: what is known of it, and where it went. */
struct process_time {
  uint64_t cpu_ns, system_ns; /* as /proc last said */
  uint64_t ended_ns;          /* of its threads that have ended, as the kernel's records said */
  uint64_t sampled_ns;
  uint64_t billed_ns, billed_kernel_ns; /* reported without samples (drain_rest.c) */
  bool is_closed;                       /* nothing is added to it any more */
};

struct process_map {
  uint64_t start, end, file_offset;
  uint32_t module;
  uint64_t inode; /* 0 where the kernel's records do not say it */
  bool is_steady; /* there since its program began: nothing unloads it */
};

struct process {
  pid_t pid;
  uint32_t target;
  uint32_t exe_module; /* MODULE_NONE: not known yet */
  char comm[PROC_COMM_BYTES];
  char *exe;                /* path, NULL when not known */
  struct process_map *maps; /* by start, never overlapping */
  uint32_t map_count, map_cap;
  uint32_t maps_unloads; /* of the ring (drain/unloads.h), just before they were read */
  bool has_maps, is_old; /* they were read once; for an earlier window */
  bool is_unsure;        /* only steady ones are believed */
  struct process_thread *threads;
  uint32_t thread_count;
  uint32_t living_threads; /* as /proc last said */
  struct process_time time;
  struct process_clock clock;
  uint64_t used_ns, read_ns; /* CLOCK_MONOTONIC: of the last sample; of the last look at /proc */
  bool has_ended;
  bool is_kernel;       /* a thread of the kernel */
  bool is_awaited;      /* ended, but not yet its record of what it had spent */
  bool is_root;         /* of its target: kept until the target ends */
  bool is_exec_open;    /* after an exec: the next mapping is the program itself */
  struct process *next; /* in its bucket */
};

struct code_frame {
  uint32_t module;
  uint64_t address;
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
/* PROCESS runs another program now: its mappings come next. */
void process_exec(struct process *process, const char *comm);
void process_name_thread(struct process *process, pid_t tid, const char *name);
void process_forget_thread(struct process *process, pid_t tid);
/* The name of TID; read from /proc when it is new, else FALLBACK (may be NULL), else the process's
   name.  Borrowed. */
const char *process_thread_name(struct process *process, pid_t tid, const char *fallback);
void process_map_add(struct processes *processes, struct process *process,
                     const struct process_map *map, const struct module_file *file);

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

void processes_forget_pid(struct processes *processes, pid_t pid);
void processes_forget_target(struct processes *processes, uint32_t target);
/* Between two windows: forgets the processes that have ended, and the idlest when there are too
   many; marks the modules of the rest. */
void processes_sweep(struct processes *processes);

#endif
