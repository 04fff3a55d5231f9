/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in a signal handler as well as in a constructor: accesses words of shared memory and nothing
   else.

   The daemon's values are bounded here once more: with an absurd period a target would do nothing
   but take samples. */
#include "ring_process.h"
#include "divide.h"

#include <stddef.h>

enum { PERIOD_MIN_NS = 50000 };
#define PERIOD_MAX_NS 60000000000ULL

static struct ring_header *header_of(const struct ring_writer *ring) {
  return (struct ring_header *)(void *)ring->base;
}

struct ring_process *ring_process_enter(const struct ring_writer *ring, uint32_t pid) {
  struct ring_process *rows = header_of(ring)->processes;
  for (unsigned i = 0; i < RING_PROCESSES_MAX; i++)
    if (wide_peek(&rows[i].who) >> 32 == pid) return &rows[i];
  for (unsigned i = 0; i < RING_PROCESSES_MAX; i++) {
    /* Acquire: partner of the daemon's release when it freed the row. */
    if (!wide_swap(&rows[i].who, 0, (uint64_t)pid << 32)) continue;
    atomic_store_explicit(&rows[i].asked, 0, memory_order_relaxed);
    atomic_store_explicit(&rows[i].seen, 0, memory_order_relaxed);
    atomic_store_explicit(&rows[i].armed, 0, memory_order_relaxed);
    atomic_store_explicit(&rows[i].has_left, 0, memory_order_relaxed);
    return &rows[i];
  }
  return NULL;
}

bool ring_process_ask(struct ring_process *row, uint32_t serial) {
  atomic_store_explicit(&row->asked, serial, memory_order_relaxed);
  return (uint32_t)wide_load(&row->who) == serial;
}

void ring_process_say_seen(const struct ring_writer *ring, struct ring_process *row,
                           uint32_t serial) {
  /* Release: a daemon that sees this sees the timers' counters. */
  if (row != NULL) atomic_store_explicit(&row->seen, serial, memory_order_release);
  atomic_store_explicit(&header_of(ring)->serial_seen, serial, memory_order_relaxed);
}

void ring_process_say_armed(struct ring_process *row, uint32_t armed) {
  atomic_store_explicit(&row->armed, armed, memory_order_relaxed);
}

void ring_process_say_left(struct ring_process *row, enum ring_left why) {
  atomic_store_explicit(&row->has_left, (uint32_t)why, memory_order_relaxed);
}

void ring_process_begin_fork(const struct ring_writer *ring) {
  atomic_fetch_add_explicit(&header_of(ring)->forks, 1, memory_order_relaxed);
}

void ring_process_end_fork(const struct ring_writer *ring) {
  /* Release: a daemon that sees this sees the row. */
  atomic_fetch_sub_explicit(&header_of(ring)->forks, 1, memory_order_release);
}

uint32_t ring_process_serial(const struct ring_writer *ring) {
  /* Acquire: control and period are those of this serial, or newer. */
  return atomic_load_explicit(&header_of(ring)->serial, memory_order_acquire);
}

const _Atomic uint32_t *ring_process_serial_word(const struct ring_writer *ring) {
  return &header_of(ring)->serial;
}

enum ring_control ring_process_control(const struct ring_writer *ring) {
  uint32_t control = atomic_load_explicit(&header_of(ring)->control, memory_order_relaxed);
  return control <= RING_OFF ? (enum ring_control)control : RING_OFF;
}

uint32_t ring_process_scale(const struct ring_writer *ring, uint64_t unit_ns) {
  uint64_t period_ns = wide_peek(&header_of(ring)->period_ns);
  if (period_ns < PERIOD_MIN_NS) period_ns = PERIOD_MIN_NS;
  if (period_ns > PERIOD_MAX_NS) period_ns = PERIOD_MAX_NS;
  uint64_t scale = divide(period_ns + unit_ns / 2, unit_ns);
  if (scale > UINT32_MAX) return UINT32_MAX;
  return scale > 0 ? (uint32_t)scale : 1;
}
