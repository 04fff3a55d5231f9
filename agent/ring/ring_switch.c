/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses single words of the header. The serial is stored last, with release. A process that
   acquires it sees its control and period, or newer ones, which another serial follows at once.

   A row changes owner only by compare-and-swap on `who`. The process that claims a free row and the
   daemon that permits, revokes or frees may race in any order; the loser does nothing. */
#include "ring_switch.h"
#include "wide.h"

static struct ring_header *header_of(const struct ring_reader *ring) {
  return (struct ring_header *)(void *)ring->base;
}

void ring_switch_set_control(const struct ring_reader *ring, enum ring_control control) {
  atomic_store_explicit(&header_of(ring)->control, control, memory_order_relaxed);
}

void ring_switch_set_period(const struct ring_reader *ring, uint64_t period_ns) {
  wide_store(&header_of(ring)->period_ns, period_ns);
}

uint32_t ring_switch_serial(const struct ring_reader *ring) {
  return atomic_load_explicit(&header_of(ring)->serial, memory_order_relaxed);
}

void ring_switch_raise(const struct ring_reader *ring) {
  uint32_t next = ring_switch_serial(ring) + 1;
  if (next == 0) next = 1; /* 0 means "nothing permitted" */
  /* Release: partner of the acquire in control.c. */
  atomic_store_explicit(&header_of(ring)->serial, next, memory_order_release);
}

void ring_switch_look(const struct ring_reader *ring, unsigned index,
                      struct ring_process_view *ret) {
  struct ring_process *row = &header_of(ring)->processes[index];
  uint64_t who = wide_load(&row->who);
  *ret = (struct ring_process_view){
      .pid = (uint32_t)(who >> 32),
      .permitted = (uint32_t)who,
      .asked = atomic_load_explicit(&row->asked, memory_order_relaxed),
      .seen = atomic_load_explicit(&row->seen, memory_order_acquire),
      .armed = atomic_load_explicit(&row->armed, memory_order_relaxed),
      .has_left = atomic_load_explicit(&row->has_left, memory_order_relaxed),
  };
}

static bool find(const struct ring_reader *ring, uint32_t pid, struct ring_process_view *ret) {
  for (unsigned i = 0; i < RING_PROCESSES_MAX; i++) {
    ring_switch_look(ring, i, ret);
    if (ret->pid == pid) return true;
  }
  return false;
}

bool ring_switch_has_entered(const struct ring_reader *ring, uint32_t pid) {
  struct ring_process_view view;
  return find(ring, pid, &view);
}

uint32_t ring_switch_armed(const struct ring_reader *ring, uint32_t pid) {
  struct ring_process_view view;
  return find(ring, pid, &view) ? view.armed : 0;
}

enum ring_left ring_switch_has_left(const struct ring_reader *ring, uint32_t pid) {
  struct ring_process_view view;
  if (!find(ring, pid, &view) || view.has_left == RING_LEFT_NOT) return RING_LEFT_NOT;
  return view.has_left == RING_LEFT_CRAMPED ? RING_LEFT_CRAMPED : RING_LEFT_SIGNAL;
}

static bool swap(const struct ring_reader *ring, unsigned index,
                 const struct ring_process_view *view, uint64_t next) {
  uint64_t who = (uint64_t)view->pid << 32 | view->permitted;
  return wide_swap(&header_of(ring)->processes[index].who, who, next);
}

void ring_switch_permit(const struct ring_reader *ring, unsigned index,
                        const struct ring_process_view *view, uint32_t serial) {
  struct ring_process *row = &header_of(ring)->processes[index];
  /* After a revocation the process must request again. */
  if (serial == 0) atomic_store_explicit(&row->asked, 0, memory_order_relaxed);
  swap(ring, index, view, (uint64_t)view->pid << 32 | serial);
}

void ring_switch_free(const struct ring_reader *ring, unsigned index,
                      const struct ring_process_view *view) {
  swap(ring, index, view, 0);
}

int32_t ring_switch_forks(const struct ring_reader *ring) {
  return atomic_load_explicit(&header_of(ring)->forks, memory_order_acquire);
}

uint64_t ring_switch_token(const struct ring_reader *ring) {
  return header_of(ring)->nudge_token;
}
