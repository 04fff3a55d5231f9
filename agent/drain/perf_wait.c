/* SPDX-License-Identifier: Apache-2.0 */
/* A program's first samples arrive before its modules' tables are made, which takes some
   milliseconds for each module, once. A sample in the window cannot be walked again, but it need
   not be taken from the kernel's ring at once. So while a table that a stack needs is being made,
   its record and all later ones on any CPU stay where they are.

   This is limited. A ring of 512 KiB holds 32 copies of a stack: the last 320 ms of an always busy
   CPU at 99 Hz. Records wait until a ring is filled to WAIT_FILL_PERCENT_MAX, 240 ms there. That is
   enough for libc (3 ms), but not for all of node (205 ms). If CPUs are mostly idle, they wait
   WAIT_NS_MAX in all, until the last table in demand is there. After that the stacks are walked
   with the available tables, and a program's first ones may end in [no table].

   Only ticks wait; closing an account, a window or a target takes everything. */
#include "drain_parts.h"
#include "perf_owner.h"

#include "common/clock.h"
#include "perf/perf_record.h"

#define WAIT_NS_MAX NS_PER_SECOND

enum { WAIT_FILL_PERCENT_MAX = 75 };

void perf_wait_begin(struct drain *drain) {
  drain->wait.is_on = false;
  if (drain->tables != NULL && !table_store_is_busy(drain->tables)) drain->wait.since_ns = 0;
}

/* The process of RECORD if it is TARGET's, or NULL. */
static struct process *find_process(struct drain *drain, const struct target *target,
                                    const struct perf_record *record) {
  struct process *process = processes_find(drain->processes, record->pid);
  if (process == NULL) process = processes_get(drain->processes, record->pid, target->held.id, -1);
  return process != NULL && process->target == target->held.id ? process : NULL;
}

static bool would_be_short(struct drain *drain, const struct perf_owner *owner, struct span bytes) {
  struct perf_record record;
  const struct target *target = owner->target;
  struct perf_form form = perf_drain_form(target);
  if (perf_record_decode(bytes, &form, &record) < 0) return false;
  if (perf_drain_is_foreign(drain, owner, &record)) return false;
  if (record.sample.copy.word == PERF_WORD_NONE) return false;
  struct process *process = find_process(drain, target, &record);
  return process != NULL && walker_should_wait(&drain->walker, process, &record.sample.copy);
}

bool perf_wait_for(struct drain *drain, struct span bytes) {
  struct drain_wait *wait = &drain->wait;
  struct perf_owner owner = {.target = NULL};
  if (!wait->is_allowed || drain->figures.fill_percent >= WAIT_FILL_PERCENT_MAX) return false;
  if (!perf_owner_of_sample(drain, bytes, &owner) || owner.target == NULL) return false;
  if (perf_content_callers(owner.target->held.content) != PERF_CONTENT_COPY) return false;
  uint64_t now = clock_monotonic_ns();
  if (wait->since_ns != 0 && now - wait->since_ns >= WAIT_NS_MAX) return false;
  if (!would_be_short(drain, &owner, bytes)) return false;
  if (wait->since_ns == 0) wait->since_ns = now;
  wait->is_on = true;
  return true;
}
