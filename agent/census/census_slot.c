/* SPDX-License-Identifier: Apache-2.0 */
/* The drain's view of each slot: whether signals arrive, and the statistics of their weights. Both
   belong to the thread that owns the slot, and restart with the next owner. Threads that share one
   count (histogram) are assumed to be sampled as long as it grows.

   A weight is in units of the ring, the initially requested period. The timer may have another
   period by now, so the weight is converted to the nearest number of expiries. A record of less
   than half an expiry (the period has just become longer) is left out. */
#include "census_parts.h"

#include <stdlib.h>
#include <string.h>

struct census *census_of(struct target *target) {
  if (target->census == NULL) target->census = calloc(1, sizeof *target->census);
  target->free_census = census_free;
  return target->census;
}

static struct census_slot *slot_of(struct target *target, uint32_t slot) {
  struct census *census = census_of(target);
  if (census == NULL || slot >= target->ring.slot_count) return NULL;
  if (slot >= census->slot_count) {
    uint32_t count = slot / CENSUS_ROWS_STEP * CENSUS_ROWS_STEP + CENSUS_ROWS_STEP;
    struct census_slot *slots = reallocarray(census->slots, count, sizeof *slots);
    if (slots == NULL) return NULL;
    memset(slots + census->slot_count, 0, (count - census->slot_count) * sizeof *slots);
    census->slots = slots;
    census->slot_count = count;
  }
  return &census->slots[slot];
}

static struct census_slot *slot_of_owner(struct target *target, const struct ring_view *view) {
  struct census_slot *seen = slot_of(target, view->slot);
  uint64_t owner = ring_owner(view->pid, view->tid);
  if (seen != NULL && seen->owner != owner) *seen = (struct census_slot){.owner = owner};
  return seen;
}

void census_signals(struct target *target, const struct ring_view *view, uint64_t signals) {
  struct census_slot *seen = slot_of_owner(target, view);
  if (seen != NULL) seen->signals += signals;
}

void census_signals_kept(struct target *target, const struct ring_view *view) {
  struct census_slot *seen = view->pid != 0 ? slot_of_owner(target, view) : NULL;
  if (seen != NULL) seen->signals = view->head;
}

void census_signals_shared(struct target *target, uint64_t signals) {
  struct census *census = census_of(target);
  if (census != NULL) census->shared_signals += signals;
}

void census_record(struct target *target, uint32_t slot, uint32_t weight) {
  const struct hold_target *held = &target->held;
  struct census_slot *seen = slot_of(target, slot);
  uint64_t period_ns = held->period_ns;
  uint64_t expiries = period_ns ? (weight * held->unit_ns + period_ns / 2) / period_ns : weight;
  if (seen == NULL) return;
  lock_step_count(&seen->tally, expiries > UINT32_MAX ? UINT32_MAX : (uint32_t)expiries);
}

const struct census_slot *census_find_slot(const struct census *census, pid_t pid, pid_t tid) {
  for (uint32_t i = 0; i < census->slot_count; i++)
    if (census->slots[i].owner == ring_owner((uint32_t)pid, (uint32_t)tid))
      return &census->slots[i];
  return NULL;
}
