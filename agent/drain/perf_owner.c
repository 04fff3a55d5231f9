/* SPDX-License-Identifier: Apache-2.0 */
/* A record carries the ID of its event, and the active events are indexed. But closed events may
   have left records in a ring. Events that a worker opened on threads (perf_threads.c) die with it,
   and a worker replaces them by others. Those records are valid, and only their process shows the
   owner:

     a process that is known here   its target
     another, after a worker died   its ancestors lead to the program that a target began with

   A process that ended before the new worker could check leads nowhere. Until the rings have been
   emptied once, its samples count as lost with the worker. At any other time a sample without owner
   is invalid. */
#include "perf_owner.h"

#include "perf/perf_record.h"

enum { ANCESTORS_MAX = 32 };

static struct target *if_perf(struct target *target) {
  return target != NULL && target->held.kind == HOLD_PERF ? target : NULL;
}

static struct target *find_known(const struct drain *drain, pid_t pid) {
  const struct process *process = processes_find(drain->processes, pid);
  /* An event on a whole CPU may have left records of the process that now has that pid. */
  if (process != NULL && process->is_over && drain->targets->has_been_wide) return NULL;
  return process ? if_perf(targets_find(drain->targets, process->target)) : NULL;
}

static struct target *find_by_parents(const struct drain *drain, pid_t pid) {
  struct proc_stat stat;
  for (unsigned up = 0; pid > 1 && up < ANCESTORS_MAX; up++) {
    struct target *target = if_perf(targets_find_pid(drain->targets, pid));
    if (target == NULL) target = find_known(drain, pid);
    if (target != NULL || proc_stat_read(pid, &stat) < 0) return target;
    pid = stat.parent;
  }
  return NULL;
}

bool perf_owner_may_have_died(const struct drain *drain) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = drain->targets->rows[row];
    if (target != NULL && target->is_restored && target->held.is_apart) return true;
  }
  return false;
}

bool perf_owner_of_sample(const struct drain *drain, struct span bytes, struct perf_owner *ret) {
  uint64_t id;
  int32_t pid;
  if (!perf_record_is_sample(bytes, &id, &pid)) return false;
  ret->target = targets_find_event(drain->targets, id, &ret->event);
  if (ret->target != NULL) return true;
  ret->event = PERF_OWNER_GONE;
  ret->target = find_known(drain, pid);
  if (ret->target == NULL && perf_owner_may_have_died(drain))
    ret->target = find_by_parents(drain, pid);
  return true;
}

void perf_owner_of_record(const struct drain *drain, const struct perf_record *record,
                          struct perf_owner *ret) {
  bool is_fork = record->kind == PERF_RECORD_KIND_FORK;
  ret->target = targets_find_event(drain->targets, record->id, &ret->event);
  if (ret->target != NULL) return;
  ret->event = PERF_OWNER_GONE;
  ret->target = find_known(drain, is_fork ? record->task.parent_pid : record->pid);
}
