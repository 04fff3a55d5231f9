/* SPDX-License-Identifier: Apache-2.0 */
/* A process: its program, names, executable mappings and CPU time. */
#ifndef TARGETS_PROCESS_ENTRY_H
#define TARGETS_PROCESS_ENTRY_H

#include "modules.h"
#include "process_clock.h"

#include "common/span.h"
#include "proc/proc_stat.h"

enum {
  PROCESS_MAPS_MAX = 1024,   /* executable mappings */
  PROCESS_STACKS_MAX = 2048, /* mappings that can hold stacks: the capacity of a map */
  PROCESS_THREADS_MAX = 512, /* names kept; further threads get the process's name */
};

/* CPU time of a process, and how it was accounted for. */
struct process_time {
  uint64_t cpu_ns, system_ns;             /* as last reported by /proc */
  uint64_t ended_ns;                      /* of ended threads, from the kernel's records */
  uint64_t sampled_ns, sampled_kernel_ns; /* by samples; the part in the kernel */
  uint64_t billed_ns, billed_kernel_ns;   /* reported without samples (drain_rest.c) */
  bool is_closed;                         /* nothing more is added */
};

struct process_map {
  uint64_t start, end, file_offset;
  uint32_t module;
  uint64_t inode;       /* 0 if the kernel's records lack it */
  bool is_steady;       /* mapped at the program's start: never unloaded */
  bool is_unproved;     /* replaced a file's text: may be moved text */
  uint64_t base;        /* an address in it minus this is in the module's own address space */
  uint32_t base_module; /* for which base was computed; MODULE_ANON: not yet */
};

/* A removed mapping: samples of PID up to UNLOADS (both as in its ring) may be in it. */
struct process_past {
  uint32_t unloads, pid, module;
  uint64_t start, end, file_offset;
};

/* A mapping that can hold stacks made by the program itself. */
struct process_stack {
  uint64_t start, end;
};

struct process {
  pid_t pid;
  uint32_t target;
  uint32_t exe_module; /* MODULE_NONE: unknown so far */
  char comm[PROC_COMM_BYTES];
  char begun_as[PROC_COMM_BYTES]; /* name in its exec, truncated; empty: not seen
                                   */
  char *exe;                      /* path, NULL if unknown */
  struct process_map *maps;       /* sorted by start, disjoint */
  uint32_t map_count, map_cap;
  struct process_stack *stacks; /* sorted by start, disjoint; only with has_other_stacks */
  uint32_t stack_count, stack_cap;
  uint64_t maps_serial;   /* changes with every change of the mappings, also for a later process */
  uint64_t shared_serial; /* of the mappings that its handlers have (walk/target_regions.h) */
  uint32_t maps_unloads;  /* of the ring (drain/unloads.h), just before they were read */
  bool has_maps, is_old;  /* read at least once; in an earlier window */
  bool is_unsure;         /* only steady mappings are used */
  const struct process_past *past;             /* sorted; borrowed for the current sample */
  uint32_t past_count, past_unloads, past_pid; /* the last two are of the current sample */
  bool has_other_stacks; /* was sampled on a stack that belongs to no thread */
  struct process_thread *threads;
  uint32_t thread_count;
  uint32_t living_threads; /* as last reported by /proc */
  struct process_time time;
  struct process_clock clock;
  uint64_t refresh_ns;       /* earliest next read (processes.c) */
  uint32_t refreshes;        /* number of reads */
  uint64_t used_ns, read_ns; /* CLOCK_MONOTONIC: of the last sample; of the last read of /proc */
  bool has_ended;            /* at least its main thread has ended */
  bool has_threads;          /* has started other threads */
  bool is_outlived;          /* some of these continue */
  bool is_reaped;            /* it has ended, and its clock is gone */
  bool is_over;              /* had ended at the end of a drain: its pid may be reused by now */
  bool is_kernel;            /* a kernel thread */
  bool is_awaited;           /* ended, but the record of its CPU time is missing */
  bool is_root;              /* of its target: kept until the target ends */
  bool is_exec_open;         /* after an exec: the next mapping is the program itself */
  struct process *next;      /* in its bucket */
};

struct code_frame {
  uint32_t module;
  uint64_t address;
};

void process_free(struct process *process);

/* Sets its program to the file at PATH, which is mapped as MODULE (MODULE_NONE: unknown so far). */
void process_set_exe(struct process *process, struct span path, uint32_t module);
/* PROCESS runs another program now; its mappings follow. */
void process_exec(struct process *process, const char *comm);
/* PROCESS has just begun: its name is still from its exec. */
void process_has_begun(struct process *process);

void process_name_thread(struct process *process, pid_t tid, const char *name);
void process_forget_thread(struct process *process, pid_t tid);
/* The name of TID: read from /proc if it is new, else FALLBACK (may be NULL), else the process's
   name. Borrowed. */
const char *process_thread_name(struct process *process, pid_t tid, const char *fallback);
/* Names are read again at their next use. */
void process_forget_threads(struct process *process);

#endif
