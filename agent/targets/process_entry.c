/* SPDX-License-Identifier: Apache-2.0 */
/* A process of a target. A thread's name is taken from the kernel's records; else from /proc at its
   first sample; if it was gone by then, from its ring slot; finally the process's own name is used.
   Names are kept in a list with at most PROCESS_THREADS_MAX entries.

   The mappings are in process_maps.c, the clock in process_clock.c, and the table of processes in
   processes.c. */
#include "process_entry.h"

#include <stdlib.h>
#include <string.h>

struct process_thread {
  pid_t tid;
  char name[PROC_COMM_BYTES];
  struct process_thread *next;
};

void process_forget_threads(struct process *process) {
  while (process->threads != NULL) {
    struct process_thread *thread = process->threads;
    process->threads = thread->next;
    free(thread);
  }
  process->thread_count = 0;
}

void process_free(struct process *process) {
  process_forget_threads(process);
  free(process->maps);
  free(process->stacks);
  free(process->exe);
  free(process);
}

void process_set_exe(struct process *process, struct span path, uint32_t module) {
  free(process->exe);
  process->exe = strndup((const char *)path.data, path.len);
  process->exe_module = module;
}

static void set_name(char to[PROC_COMM_BYTES], const char *name) {
  size_t len = strnlen(name, PROC_COMM_BYTES - 1);
  memcpy(to, name, len);
  to[len] = '\0';
}

void process_exec(struct process *process, const char *comm) {
  process_forget_threads(process);
  process->map_count = process->stack_count = 0;
  process->has_other_stacks = false;
  process->maps_serial++;
  process->has_ended = process->is_over = process->is_reaped = process->has_threads = false;
  process->is_exec_open = true;
  process->is_kernel = false;
  process->exe_module = MODULE_NONE;
  free(process->exe);
  process->exe = NULL;
  set_name(process->comm, comm);
  process_has_begun(process);
}

void process_has_begun(struct process *process) {
  memcpy(process->begun_as, process->comm, sizeof process->begun_as);
}

static struct process_thread *find_thread(const struct process *process, pid_t tid) {
  struct process_thread *thread = process->threads;
  while (thread != NULL && thread->tid != tid) thread = thread->next;
  return thread;
}

void process_name_thread(struct process *process, pid_t tid, const char *name) {
  if (tid == process->pid) set_name(process->comm, name);
  struct process_thread *thread = find_thread(process, tid);
  if (thread == NULL) {
    if (process->thread_count >= PROCESS_THREADS_MAX) return;
    thread = malloc(sizeof *thread);
    if (thread == NULL) return;
    *thread = (struct process_thread){.tid = tid, .next = process->threads};
    process->threads = thread;
    process->thread_count++;
  }
  set_name(thread->name, name);
}

void process_forget_thread(struct process *process, pid_t tid) {
  for (struct process_thread **at = &process->threads; *at != NULL; at = &(*at)->next) {
    if ((*at)->tid != tid) continue;
    struct process_thread *thread = *at;
    *at = thread->next;
    free(thread);
    process->thread_count--;
    return;
  }
}

const char *process_thread_name(struct process *process, pid_t tid, const char *fallback) {
  char name[PROC_COMM_BYTES];
  const struct process_thread *thread = find_thread(process, tid);
  if (thread != NULL) return thread->name;
  if (tid == process->pid && process->comm[0] != '\0') return process->comm;
  if (!process->has_ended && proc_thread_name(process->pid, tid, name))
    process_name_thread(process, tid, name);
  else if (fallback != NULL && fallback[0] != '\0')
    process_name_thread(process, tid, fallback);
  thread = find_thread(process, tid);
  return thread != NULL ? thread->name : process->comm;
}
