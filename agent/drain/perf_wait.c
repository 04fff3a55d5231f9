/* SPDX-License-Identifier: Apache-2.0 */
/* A program's first samples come before the tables of its modules are made, which takes some
   milliseconds a module, once for ever.  A sample cannot be walked a second time when it is in the
   window; but it need not be taken out of the kernel's ring at once.  So while a table is being
   made that a stack would use, its record and all that came after it on any CPU stay where they
   are.

   Not for long.  A ring of 512 KiB holds 32 copies of a stack, so of a CPU that is always busy at
   99 Hz the last 320 ms: it is waited until one is filled to WAIT_FILL_PERCENT_MAX, 240 ms there,
   which is enough for libc (3 ms), not for all of node (205 ms).  Where CPUs are idle for the most
   part it is WAIT_NS_MAX in all, until the last table that is waited for is there.  After that the
   stacks are walked with what there is, and the first of a program may end in [no table].

   Only ticks wait; whoever closes an account, a window or a target takes everything. */
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

/* The process of RECORD when it is TARGET's, or NULL. */
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
