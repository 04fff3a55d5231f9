/* SPDX-License-Identifier: Apache-2.0 */
/* A process is added to this table in one of three ways. Its parent forked, as reported by perf:
   the parent is copied. A sample has an unknown pid, after a restart of the worker: /proc is read.
   Or a ring's slot belongs to it. It is removed when it has ended and the window with its samples
   is closed, or when there are too many.

   Pids are reused. The kernel's FORK and EXIT records are sorted by time, so a FORK of a known pid
   is a new process. Without records (timer targets) the caller checks the slot's owner against
   /proc. */
#include "processes.h"
#include "process_maps.h"

#include "common/clock.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  BUCKETS = 1024, /* power of two */
  REFRESH_NS_LEAST = 100000000,
  REFRESH_NS_MOST = 1000000000, /* after some reads without news */
  REFRESHES_SOON = 16, /* of a new process; one that maps endlessly is read once a second */
  SWEEP_KEEP = PROCESSES_MAX * 3 / 4,
};

struct processes {
  struct modules *modules;
  uint32_t count;
  struct process *buckets[BUCKETS];
};

int processes_new(struct modules *modules, struct processes **ret) {
  struct processes *processes = calloc(1, sizeof *processes);
  if (processes == NULL) return -ENOMEM;
  processes->modules = modules;
  *ret = processes;
  return 0;
}

static struct process **bucket_of(struct processes *processes, pid_t pid) {
  return &processes->buckets[(uint32_t)pid & (BUCKETS - 1)];
}

typedef bool process_test(const struct process *process, const void *context);

/* Removes every process for which TEST is true. */
static void remove_if(struct processes *processes, process_test *test, const void *context) {
  for (unsigned i = 0; i < BUCKETS; i++) {
    for (struct process **at = &processes->buckets[i]; *at != NULL;) {
      struct process *process = *at;
      if (!test(process, context)) {
        at = &process->next;
        continue;
      }
      *at = process->next;
      process_free(process);
      processes->count--;
    }
  }
}

static bool is_any(const struct process *process, const void *context) {
  (void)process;
  (void)context;
  return true;
}

void processes_free(struct processes *processes) {
  if (processes == NULL) return;
  remove_if(processes, is_any, NULL);
  free(processes);
}

struct process *processes_find(const struct processes *processes, pid_t pid) {
  struct process *process = processes->buckets[(uint32_t)pid & (BUCKETS - 1)];
  while (process != NULL && process->pid != pid) process = process->next;
  return process;
}

static void remove_pid(struct processes *processes, pid_t pid) {
  for (struct process **at = bucket_of(processes, pid); *at != NULL; at = &(*at)->next) {
    if ((*at)->pid != pid) continue;
    struct process *process = *at;
    *at = process->next;
    process_free(process);
    processes->count--;
    return;
  }
}

static struct process *add_process(struct processes *processes, pid_t pid, uint32_t target) {
  remove_pid(processes, pid);
  if (processes->count >= PROCESSES_MAX) return NULL;
  struct process *process = calloc(1, sizeof *process);
  if (process == NULL) return NULL;
  process->pid = pid;
  process->target = target;
  process->exe_module = MODULE_NONE;
  process->used_ns = process->maps_serial = clock_monotonic_ns();
  struct process **bucket = bucket_of(processes, pid);
  process->next = *bucket;
  *bucket = process;
  processes->count++;
  return process;
}

/* Finds the module of EXE among the mappings. */
static void find_exe_module(struct processes *processes, struct process *process) {
  struct batch_module module;
  for (uint32_t i = 0; process->exe != NULL && i < process->map_count; i++) {
    modules_describe(processes->modules, process->maps[i].module, &module);
    if (strcmp(module.path, process->exe) != 0) continue;
    process->exe_module = process->maps[i].module;
    return;
  }
}

static void read_times(struct process *process, const struct proc_stat *stat) {
  process->living_threads = stat->threads;
  process->has_threads |= stat->threads > 1;
  process->time.system_ns = proc_ticks_to_ns(stat->own_system_ticks);
  process->time.cpu_ns = process->time.system_ns + proc_ticks_to_ns(stat->own_user_ticks);
}

/* For a fork without a record: copies the name from other processes of its program. */
static void find_beginning(const struct processes *processes, struct process *process) {
  for (unsigned i = 0; process->exe != NULL && i < BUCKETS; i++)
    for (const struct process *p = processes->buckets[i]; p != NULL; p = p->next) {
      if (p->target != process->target || p->begun_as[0] == '\0' || p->exe == NULL) continue;
      if (strcmp(p->exe, process->exe) != 0) continue;
      memcpy(process->begun_as, p->begun_as, sizeof process->begun_as);
      return;
    }
}

static void read_from_proc(struct processes *processes, struct process *process, int maps_fd) {
  char path[LIMIT_PATH_BYTES + 1];
  process->read_ns = clock_monotonic_ns();
  proc_thread_name(process->pid, process->pid, process->comm);
  if (proc_exe_path(process->pid, path, sizeof path))
    process_set_exe(process, span_of_string(path), MODULE_NONE);
  process_maps_read(processes->modules, process, maps_fd);
  find_exe_module(processes, process);
  find_beginning(processes, process);
}

static bool is_over(const struct process *process, const void *context) {
  (void)context;
  return process->has_ended && !process->is_outlived && !process->is_root && !process->is_awaited;
}

/* CPU time from before this is accounted for elsewhere. */
static void begin_account(struct process *process) {
  struct proc_stat stat;
  if (proc_stat_read(process->pid, &stat) < 0) return;
  read_times(process, &stat);
  process->is_kernel = stat.is_kernel;
  process->time.billed_ns = process->time.cpu_ns;
  process->time.billed_kernel_ns = process->time.system_ns;
}

/* Recently read data is not read again. Otherwise, if two targets claim the same process (one of
   them falsely), its mappings would be read at every sample. */
static bool is_fresh(const struct process *process) {
  return !process->has_ended && process->map_count > 0 &&
         clock_monotonic_ns() - process->read_ns < REFRESH_NS_MOST;
}

/* Moves PROCESS to TARGET, with a new account. */
static struct process *move_to(struct process *process, uint32_t target) {
  process->target = target;
  process->is_root = process->is_awaited = false;
  process->shared_serial = 0; /* the handlers of another target had its mappings */
  process->time = (struct process_time){0};
  process->clock = (struct process_clock){0};
  begin_account(process);
  return process;
}

struct process *processes_get(struct processes *processes, pid_t pid, uint32_t target,
                              int maps_fd) {
  struct process *process = processes_find(processes, pid);
  if (process != NULL && process->target == target) return process;
  if (process != NULL && is_fresh(process)) return move_to(process, target);
  if (processes->count >= PROCESSES_MAX) remove_if(processes, is_over, NULL);
  process = add_process(processes, pid, target);
  if (process == NULL) return NULL;
  read_from_proc(processes, process, maps_fd);
  process->refresh_ns = REFRESH_NS_LEAST;
  begin_account(process);
  return process;
}

struct process *processes_fork(struct processes *processes, const struct process *parent,
                               pid_t child) {
  if (parent->pid == child) return NULL;
  if (processes->count >= PROCESSES_MAX) remove_if(processes, is_over, NULL);
  struct process *process = add_process(processes, child, parent->target);
  if (process == NULL) return NULL;
  memcpy(process->comm, parent->comm, sizeof process->comm);
  memcpy(process->begun_as, parent->begun_as, sizeof process->begun_as);
  process->is_kernel = parent->is_kernel;
  if (parent->exe != NULL)
    process_set_exe(process, span_of_string(parent->exe), parent->exe_module);
  process_copy_maps(process, parent);
  return process;
}

/* False for memory with a name from the kernel, as of a memfd: "//anon", "/memfd:name". */
static bool has_name(const struct module_file *file) {
  static const char memfd[] = "/memfd:", huge[] = "/anon_hugepage";
  struct span path = file->path;
  if (path.len < 2 || path.data[0] != '/' || path.data[1] == '/') return false;
  if (path.len >= sizeof memfd - 1 && memcmp(path.data, memfd, sizeof memfd - 1) == 0) return false;
  return path.len < sizeof huge - 1 || memcmp(path.data, huge, sizeof huge - 1) != 0;
}

/* After an exec the kernel maps the program first, then its loader. */
void process_map_add(struct processes *processes, struct process *process,
                     const struct process_map *map, const struct module_file *file) {
  struct process_map placed = *map;
  placed.module = modules_intern(processes->modules, file);
  if (!has_name(file)) process_maps_note_moved(process, &placed);
  process_maps_insert(process, &placed);
  if (!process->is_exec_open || file->path.len == 0 || file->path.data[0] != '/') return;
  process->is_exec_open = false;
  process_set_exe(process, file->path, placed.module);
}

bool process_refresh(struct processes *processes, struct process *process, int maps_fd) {
  uint64_t now = clock_monotonic_ns(), maps = process->map_count;
  if (process->has_ended || now - process->read_ns < process->refresh_ns) return false;
  process_forget_threads(process);
  read_from_proc(processes, process, maps_fd);
  bool is_new = process->map_count != maps && process->refreshes < REFRESHES_SOON;
  process->refresh_ns = is_new ? REFRESH_NS_LEAST : process->refresh_ns * 2;
  if (process->refresh_ns > REFRESH_NS_MOST) process->refresh_ns = REFRESH_NS_MOST;
  process->refreshes++;
  return true;
}

void process_read_maps(struct processes *processes, struct process *process, int maps_fd,
                       uint32_t unloads) {
  process->is_old = false;
  if (process->has_ended) return;
  if (process_maps_read(processes->modules, process, maps_fd) == 0) process->maps_unloads = unloads;
}

uint32_t process_resolve(struct processes *processes, struct process *process, const uint64_t *pc,
                         uint32_t count, struct code_frame *ret) {
  process->used_ns = clock_monotonic_ns();
  return process_maps_resolve(processes->modules, process, pc, count, ret);
}

/* First all clocks. A process that is gone by now was waited for, and its parent's times, which are
   read later, include its own. */
static void read_clock(struct process *process, struct processes_sum *sum) {
  if (process->has_ended && process->is_reaped) return;
  uint64_t ns = proc_cpu_ns(process->pid);
  if (process->has_ended && !process->is_awaited && !process->is_outlived) {
    process->is_reaped = ns == 0;
    sum->zombie_ns += ns;
    return;
  }
  sum->clock_ns += ns;
  sum->ended_ns += process->time.ended_ns;
  sum->is_partial |= ns == 0;
}

static void add_to_sum(const struct process *process, const struct proc_stat *stat,
                       struct processes_sum *sum) {
  uint64_t cpu_ns = proc_ticks_to_ns(stat->user_ticks + stat->system_ticks);
  sum->processes++;
  sum->threads += stat->threads;
  sum->cpu_ns += cpu_ns;
  sum->system_ns += proc_ticks_to_ns(stat->system_ticks);
  sum->waited_ns += cpu_ns - process->time.cpu_ns;
  sum->waiters += cpu_ns > process->time.cpu_ns;
}

void processes_sum_target(struct processes *processes, uint32_t target, struct processes_sum *ret) {
  struct proc_stat stat;
  memset(ret, 0, sizeof *ret);
  for (unsigned i = 0; i < BUCKETS; i++)
    for (struct process *p = processes->buckets[i]; p != NULL; p = p->next)
      if (p->target == target) read_clock(p, ret);
  for (unsigned i = 0; i < BUCKETS; i++) {
    for (struct process *p = processes->buckets[i]; p != NULL; p = p->next) {
      if (p->target != target || p->has_ended) continue;
      if (proc_stat_read(p->pid, &stat) < 0) {
        p->has_ended = ret->is_partial = true;
        continue;
      }
      read_times(p, &stat);
      add_to_sum(p, &stat, ret);
    }
  }
}

void processes_each(struct processes *processes, uint32_t target, processes_visit *visit,
                    void *context) {
  for (unsigned i = 0; i < BUCKETS; i++)
    for (struct process *p = processes->buckets[i]; p != NULL; p = p->next)
      if (p->target == target) visit(context, p);
}

bool processes_is_crowded(const struct processes *processes) {
  unsigned ended = 0;
  if (processes->count < PROCESSES_CROWDED) return false;
  for (unsigned i = 0; i < BUCKETS; i++)
    for (const struct process *p = processes->buckets[i]; p != NULL; p = p->next)
      ended += is_over(p, NULL);
  return ended >= PROCESSES_CROWDED / 2;
}

void processes_remove_ended(struct processes *processes) {
  remove_if(processes, is_over, NULL);
}

/* A main thread that has ended is a zombie as long as others run. */
static bool is_outlived(const struct process *process) {
  struct proc_stat stat;
  bool can_be = process->has_ended && !process->is_over && process->has_threads;
  return can_be && proc_stat_read(process->pid, &stat) == 0 && stat.state == 'Z' &&
         !proc_stat_is_over(&stat);
}

void processes_mark_over(struct processes *processes) {
  for (unsigned i = 0; i < BUCKETS; i++)
    for (struct process *p = processes->buckets[i]; p != NULL; p = p->next) {
      p->is_outlived = is_outlived(p);
      p->is_over = p->has_ended && !p->is_outlived;
    }
}

static bool is_of_target(const struct process *process, const void *context) {
  return process->target == *(const uint32_t *)context;
}

void processes_forget_pid(struct processes *processes, pid_t pid) {
  remove_pid(processes, pid);
}

void processes_forget_target(struct processes *processes, uint32_t target) {
  remove_if(processes, is_of_target, &target);
}

static bool is_older(const struct process *process, const void *context) {
  return !process->is_root && process->used_ns < *(const uint64_t *)context;
}

void processes_sweep(struct processes *processes) {
  uint64_t now = clock_monotonic_ns();
  remove_if(processes, is_over, NULL);
  /* Idle processes can be read from /proc again; each round halves the permitted age. */
  for (uint64_t age = 600 * NS_PER_SECOND; processes->count > SWEEP_KEEP && age > 0; age /= 2) {
    uint64_t oldest = now > age ? now - age : 0;
    remove_if(processes, is_older, &oldest);
  }
  for (unsigned i = 0; i < BUCKETS; i++) {
    for (struct process *p = processes->buckets[i]; p != NULL; p = p->next) {
      p->is_old = true;
      p->is_awaited = false; /* for one sweep only: its record may have been lost */
      if (p->exe_module != MODULE_NONE) modules_mark(processes->modules, p->exe_module);
      for (uint32_t k = 0; k < p->map_count; k++)
        modules_mark(processes->modules, p->maps[k].module);
    }
  }
}
