/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of one process: its program, its names, its executable mappings, its CPU time. */
#ifndef TARGETS_PROCESS_ENTRY_H
#define TARGETS_PROCESS_ENTRY_H

#include "modules.h"
#include "process_clock.h"

#include "common/span.h"
#include "proc/proc_stat.h"

enum {
  PROCESS_MAPS_MAX = 1024,   /* executable mappings */
  PROCESS_STACKS_MAX = 2048, /* mappings that can hold stacks: what a map has room for */
  PROCESS_THREADS_MAX = 512, /* names kept; further threads go under the process's name */
};

/* CPU time of one process: what is known of it, and where it went. */
struct process_time {
  uint64_t cpu_ns, system_ns; /* as /proc last said */
  uint64_t ended_ns;          /* of its threads that have ended, as the kernel's records said */
  uint64_t sampled_ns, sampled_kernel_ns; /* by samples; of those in the kernel */
  uint64_t billed_ns, billed_kernel_ns;   /* reported without samples (drain_rest.c) */
  bool is_closed;                         /* nothing is added to it any more */
};

struct process_map {
  uint64_t start, end, file_offset;
  uint32_t module;
  uint64_t inode;       /* 0 where the kernel's records do not say it */
  bool is_steady;       /* there since its program began: nothing unloads it */
  bool is_unproved;     /* came into the place of a file's text: may be that, moved */
  uint64_t base;        /* an address in it less this is one in the module's own address space */
  uint32_t base_module; /* for which base was found; MODULE_ANON: not yet */
};

/* A mapping that has gone: samples up to UNLOADS of PID (as its ring has both) may be in it. */
struct process_past {
  uint32_t unloads, pid, module;
  uint64_t start, end, file_offset;
};

/* A mapping that can hold stacks which the program makes itself. */
struct process_stack {
  uint64_t start, end;
};

struct process {
  pid_t pid;
  uint32_t target;
  uint32_t exe_module; /* MODULE_NONE: not known yet */
  char comm[PROC_COMM_BYTES];
  char begun_as[PROC_COMM_BYTES]; /* the name in its exec, cut; empty: that was not seen */
  char *exe;                      /* path, NULL when not known */
  struct process_map *maps;       /* by start, never overlapping */
  uint32_t map_count, map_cap;
  struct process_stack *stacks; /* by start, disjoint; only where has_other_stacks */
  uint32_t stack_count, stack_cap;
  uint64_t maps_serial;   /* another number whenever they change, also of a later process */
  uint64_t shared_serial; /* of the mappings that its handlers know (walk/target_regions.h) */
  uint32_t maps_unloads;  /* of the ring (drain/unloads.h), just before they were read */
  bool has_maps, is_old;  /* they were read once; for an earlier window */
  bool is_unsure;         /* only steady ones are believed */
  const struct process_past *past;             /* in order; borrowed for the sample in hand */
  uint32_t past_count, past_unloads, past_pid; /* of which the latter two are the sample's */
  bool has_other_stacks; /* it was sampled on a stack that is no thread's own */
  struct process_thread *threads;
  uint32_t thread_count;
  uint32_t living_threads; /* as /proc last said */
  struct process_time time;
  struct process_clock clock;
  uint64_t refresh_ns;       /* not read again before (processes.c) */
  uint32_t refreshes;        /* how often it was */
  uint64_t used_ns, read_ns; /* CLOCK_MONOTONIC: of the last sample; of the last look at /proc */
  bool has_ended;            /* its main thread has, at the least */
  bool has_threads;          /* it has begun others */
  bool is_outlived;          /* one of these goes on */
  bool is_reaped;       /* it has ended, and its clock with it */
  bool is_over;         /* it had ended when a drain ended: its number may be another's by now */
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

void process_free(struct process *process);

/* Its program is the file at PATH, which is mapped as MODULE (MODULE_NONE: not known yet). */
void process_set_exe(struct process *process, struct span path, uint32_t module);
/* PROCESS runs another program now: its mappings come next. */
void process_exec(struct process *process, const char *comm);
/* PROCESS has just begun: its name is still that of its exec. */
void process_has_begun(struct process *process);

void process_name_thread(struct process *process, pid_t tid, const char *name);
void process_forget_thread(struct process *process, pid_t tid);
/* The name of TID; read from /proc when it is new, else FALLBACK (may be NULL), else the process's
   name.  Borrowed. */
const char *process_thread_name(struct process *process, pid_t tid, const char *fallback);
/* Their names are asked for again at their next use. */
void process_forget_threads(struct process *process);

#endif
