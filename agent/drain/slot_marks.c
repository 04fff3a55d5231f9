/* SPDX-License-Identifier: Apache-2.0 */
/* A mark in a slot describes the samples after it, so a thread's name is its name at the time of
   the sample. The agent's wrapped calls make marks. A name set by other means is read from /proc:
   at a slot's first records, if they contain no mark, and once a second. A name that was read later
   applies to the samples after it: the agent may already have noted it and not yet marked it. */
#include "slot_marks.h"

#include "common/clock.h"
#include "proc/proc_stat.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS NS_PER_SECOND

struct slot_mark *slot_marks_of(struct target *target, const struct ring_view *view) {
  uint64_t owner = ring_owner(view->pid, view->tid);
  if (target->slot_marks == NULL)
    target->slot_marks = calloc(target->ring.slot_count, sizeof *target->slot_marks);
  if (target->slot_marks == NULL) return NULL;
  struct slot_mark *mark = &target->slot_marks[view->slot];
  if (mark->owner == owner || owner == 0) return mark;
  *mark = (struct slot_mark){
      .owner = owner, .is_first = true, .is_known = !target->is_restored, .settled = mark->settled};
  memcpy(mark->name, view->name, sizeof mark->name);
  return mark;
}

void slot_marks_take(struct slot_mark *mark, const struct ring_sample *sample) {
  if (sample->mark_part == RING_MARK_LAST) {
    memcpy(mark->last, sample->mark.name + sizeof mark->last, sizeof mark->last);
    return;
  }
  mark->unloads = (uint32_t)sample->mark.unloads;
  mark->is_known = true;
  memcpy(mark->name, sample->mark.name, RING_NAME_BYTES);
  if (sample->mark_part == RING_MARK_FIRST)
    memcpy(mark->name + sizeof mark->last, mark->last, sizeof mark->last);
}

static void look(struct slot_mark *mark) {
  char name[PROC_COMM_BYTES];
  mark->looked_ns = clock_monotonic_ns();
  if (!proc_thread_name((pid_t)(mark->owner >> 32), (pid_t)(uint32_t)mark->owner, name)) return;
  memset(mark->name, 0, sizeof mark->name);
  memcpy(mark->name, name, strnlen(name, RING_NAME_BYTES));
}

void slot_marks_begin(struct slot_mark *mark, bool has_mark) {
  if (mark->is_first && !has_mark) look(mark);
  mark->is_first = false;
}

void slot_marks_end(struct slot_mark *mark) {
  if (clock_monotonic_ns() - mark->looked_ns >= LOOK_NS) look(mark);
}
