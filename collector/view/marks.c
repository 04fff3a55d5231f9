/* SPDX-License-Identifier: Apache-2.0 */
/* A mark is said once a service, at its surest: a reader wants to know whether these shares can be
   believed, not in which of a thousand windows they could not.

   There is one kind of mark so far.  A CPU-time timer's expiry is noticed at the kernel's tick: the
   sample is where the thread is at the tick, not where it was when the time was up.  That is fair
   as long as ticks fall anywhere in the program's bursts, and unfair when the program keeps step
   with the tick; its total is right either way.

   Services are few and the list is short: it is searched from its start. */
#include "marks.h"

#include "common/arena.h"
#include "proto/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct view_mark *find(const struct marks *marks, const char *service) {
  for (uint32_t i = 0; i < marks->count; i++)
    if (strcmp(marks->rows[i].service, service) == 0) return &marks->rows[i];
  return NULL;
}

int marks_add(struct marks *marks, const char *service, uint32_t bits) {
  if (service == NULL) service = "";
  struct view_mark *row = find(marks, service);
  if (row != NULL) {
    row->marks |= bits;
    return 0;
  }
  if (marks->count == MARKS_SERVICES_MAX) return 0;
  if (marks->rows == NULL) marks->rows = calloc(MARKS_SERVICES_MAX, sizeof *marks->rows);
  char *copy = marks->rows != NULL ? strdup(service) : NULL;
  if (copy == NULL) return -ENOMEM;
  marks->rows[marks->count++] = (struct view_mark){copy, bits};
  return 0;
}

int marks_copy(const struct marks *marks, struct arena *arena, const struct view_mark **ret,
               uint32_t *ret_count) {
  struct view_mark *rows = arena_array(arena, marks->count, sizeof *rows);
  if (rows == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < marks->count; i++) {
    const char *service = marks->rows[i].service;
    rows[i] =
        (struct view_mark){arena_string(arena, service, strlen(service)), marks->rows[i].marks};
    if (rows[i].service == NULL) return -ENOMEM;
  }
  *ret = rows;
  *ret_count = marks->count;
  return 0;
}

void marks_fini(struct marks *marks) {
  for (uint32_t i = 0; i < marks->count; i++) free((char *)(uintptr_t)marks->rows[i].service);
  free(marks->rows);
}

struct mark_text marks_text(uint32_t bits) {
  static const struct mark_text possible = {
      "lock_step", "possible",
      "sampled by timer, in bursts shorter than the kernel's tick: shares may be wrong if the "
      "bursts keep step with the tick; the total is right; the perf sampler has no such error"};
  static const struct mark_text likely = {
      "lock_step", "likely",
      "sampled by timer, in bursts that keep step with the kernel's tick: shares within the "
      "service "
      "are likely wrong; the total is right; the perf sampler has no such error"};
  return bits & MARK_LOCK_STEP_LIKELY ? likely : possible;
}
