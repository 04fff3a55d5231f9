/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded values are addresses in the process, so its mappings must be known after it is gone.
   They are read again every second in which a value was written. A value in none of them is
   [unknown]; a mapping shorter than that is lost.

   A thread that has ended may be the one of interest. So its slot stays, until so few are free that
   new threads might get none. */
#include "recorder.h"

#include "census/census.h"
#include "common/clock.h"
#include "targets/claim.h"
#include "targets/image.h"
#include "targets/processes.h"

#include <stdlib.h>

#define FOLLOW_INTERVAL_NS NS_PER_SECOND

enum { FREE_SLOTS_SHARE = 4 /* slots are reclaimed if less than 1/this is free */ };

uint64_t recorder_written(const struct target *target) {
  uint32_t claimed = ring_reader_claimed(&target->ring);
  uint64_t sum = 0;
  struct ring_view view;
  for (uint32_t slot = 0; slot < claimed; slot++) {
    ring_reader_look(&target->ring, slot, &view);
    sum += view.head;
  }
  return sum;
}

static void keep_signals(struct target *target) {
  uint32_t claimed = ring_reader_claimed(&target->ring);
  struct ring_view view;
  for (uint32_t slot = 0; slot < claimed; slot++) {
    ring_reader_look(&target->ring, slot, &view);
    census_signals_kept(target, &view);
  }
}

void recorder_follow(struct drain *drain, struct target *target) {
  uint64_t now = clock_monotonic_ns();
  if (now - target->kept.passed_ns < FOLLOW_INTERVAL_NS) return;
  target->kept.passed_ns = now;
  uint64_t written = recorder_written(target);
  keep_signals(target);
  if (written == target->kept.seen_outside) return;
  struct process *process =
      processes_get(drain->processes, target->held.pid, target->held.id, target->fds[1]);
  if (process == NULL || !process_refresh(drain->processes, process, target->fds[1])) return;
  target->kept.seen_outside = written;
  image_update(target, drain->modules, process);
}

uint32_t recorder_reclaim(struct target *target, pid_t pid) {
  const struct ring_reader *ring = &target->ring;
  uint32_t used = 0, living = 0;
  struct claim seen = {0};
  struct ring_view view;
  bool *is_gone = calloc(ring->slot_count, sizeof *is_gone);
  if (is_gone == NULL) return ring->slot_count; /* checked again soon */
  for (uint32_t slot = 0; slot < ring->slot_count; slot++) {
    ring_reader_look(ring, slot, &view);
    if (view.pid == 0) continue;
    used++;
    is_gone[slot] = view.is_released || (pid_t)view.pid == pid ||
                    !proc_has_thread((pid_t)view.pid, (pid_t)view.tid);
    living += !is_gone[slot] && claim_stands(target, (pid_t)view.pid, &seen);
  }
  uint32_t wanted = ring->slot_count / FREE_SLOTS_SHARE;
  for (uint32_t slot = 0; living > 0 && slot < ring->slot_count; slot++) {
    if (ring->slot_count - used >= wanted) break;
    if (!is_gone[slot]) continue;
    ring_reader_free_slot(ring, slot);
    used--;
  }
  free(is_gone);
  return living;
}
