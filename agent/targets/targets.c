/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's table is authoritative. This one adds the worker's data, which can always be
   rebuilt from it (target.c), and finds targets by the keys in samples: an ID, an event's ID, a
   pid.

   IDs increase by one and are never reused in a run. So a pending drain in the counter page can
   never be taken for another ring's. */
#include "targets.h"
#include "timer_ring.h"

#include "perf/perf_ring.h"

#include <errno.h>
#include <string.h>

enum { ROW_BITS = 8, PLACE_NONE = 0x7fffff };
_Static_assert(HOLD_TARGETS_MAX == 1 << ROW_BITS, "a row and an event's place share a word");

static int index_target(struct targets *targets, uint32_t row) {
  const struct target *target = targets->rows[row];
  const struct target_threads *threads = &target->threads;
  int error = 0;
  for (uint32_t i = 0; i < target->held.fd_count && !error; i++) {
    uint32_t place = threads->count > 0 ? PLACE_NONE : i; /* a ring may still hold their samples */
    if (target->event_ids[i] != 0)
      error = table_add(&targets->by_event, target->event_ids[i], place << ROW_BITS | row);
  }
  for (uint32_t i = 0; i < threads->count && !error; i++)
    error = table_add(&targets->by_event, threads->ids[i], i << ROW_BITS | row);
  return error;
}

static int index_events(struct targets *targets) {
  int error = 0;
  table_clear(&targets->by_event);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX && !error; row++)
    if (targets->rows[row] != NULL && targets->rows[row]->held.kind != HOLD_TIMER)
      error = index_target(targets, row);
  return error;
}

uint32_t targets_count_wide(const struct targets *targets) {
  uint32_t sum = 0;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    sum += targets->rows[row] != NULL && targets->rows[row]->threads.is_wide;
  return sum;
}

int targets_swap_threads(struct targets *targets, struct target *target,
                         struct target_threads *threads) {
  struct target_threads before = target->threads;
  target->threads = *threads;
  *threads = before;
  if (index_events(targets) == 0) return 0;
  before = target->threads;
  target->threads = *threads;
  *threads = before;
  return -ENOMEM;
}

static struct target *add(struct targets *targets, const struct hold_target *held, const int *fds) {
  uint32_t row = 0;
  while (row < HOLD_TARGETS_MAX && targets->rows[row] != NULL) row++;
  if (row == HOLD_TARGETS_MAX) return NULL;
  struct target *target = target_new(held, fds);
  if (target == NULL) return NULL;
  targets->rows[row] = target;
  target->perf = targets->perf;
  if (held->kind != HOLD_TIMER && index_events(targets) < 0) {
    targets->rows[row] = NULL;
    target_free(target, false);
    return NULL;
  }
  targets->count++;
  if (held->kind == HOLD_TIMER) targets->ring_bytes += timer_ring_bytes(held);
  if (held->id >= targets->next_id) targets->next_id = held->id + 1;
  return target;
}

void targets_restore(struct targets *targets, const struct hold_table *held,
                     const struct perf_rings *perf) {
  memset(targets, 0, sizeof *targets);
  targets->perf = perf;
  targets->next_id = held->last_id + 1;
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) {
    const struct hold_entry *entry = held->entries[i];
    if (entry == NULL) continue;
    struct target *target = add(targets, &entry->target, entry->fds);
    if (target == NULL) continue;
    target_restore(target);
  }
}

void targets_fini(struct targets *targets) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) target_free(targets->rows[row], true);
  table_fini(&targets->by_event);
  memset(targets, 0, sizeof *targets);
}

struct target *targets_add_take(struct targets *targets, const struct hold_target *held,
                                const int *fds) {
  uint64_t id;
  for (uint32_t i = 0; held->kind == HOLD_PERF && i < held->fd_count; i++)
    if (!perf_event_id(fds[i], &id)) return NULL;
  return add(targets, held, fds);
}

void targets_remove(struct targets *targets, struct target *target) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    if (targets->rows[row] != target) continue;
    targets->rows[row] = NULL;
    targets->count--;
  }
  if (target->held.kind == HOLD_TIMER) targets->ring_bytes -= timer_ring_bytes(&target->held);
  bool is_indexed = target->held.kind != HOLD_TIMER;
  target_free(target, true);
  if (is_indexed) index_events(targets); /* smaller than before: cannot fail */
}

struct target *targets_find(const struct targets *targets, uint32_t id) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (targets->rows[row] != NULL && targets->rows[row]->held.id == id) return targets->rows[row];
  return NULL;
}

struct target *targets_find_event(const struct targets *targets, uint64_t event_id,
                                  uint32_t *ret_place) {
  uint32_t cursor, found = table_find(&targets->by_event, event_id, &cursor);
  if (found == TABLE_NONE) return NULL;
  if (ret_place != NULL) *ret_place = found >> ROW_BITS;
  return targets->rows[found % HOLD_TARGETS_MAX];
}

struct target *targets_find_pid(const struct targets *targets, int32_t pid) {
  struct target *found = NULL;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = targets->rows[row];
    if (target == NULL || target->held.pid != pid || target->held.behind != 0) continue;
    if (found == NULL || target->held.id > found->held.id) found = target;
  }
  return found;
}
