/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of the handler's own measurement. The figures are in the target's memory, so a
   target can lie about its cost. That can only lower its own rate, or make its cost look smaller to
   its own owner. */
#include "ring_cost.h"
#include "ticks.h"

#include <errno.h>
#include <time.h>

#define NS_PER_S 1000000000ULL
#define CLOCK_LEAST_NS 1000000ULL

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void ring_cost_clock_start(struct ring_cost_clock *ret) {
  ret->start_ns = now_ns();
  ret->start_ticks = ticks_now();
}

double ring_cost_ns_per_tick(const struct ring_cost_clock *clock) {
  uint64_t ns = now_ns() - clock->start_ns;
  uint64_t ticks = ticks_now() - clock->start_ticks;
  if (!ticks_are_there() || ns < CLOCK_LEAST_NS || ticks == 0) return 0;
  return (double)ns / (double)ticks;
}

static struct ring_header *header_of(const struct ring_reader *ring) {
  return (struct ring_header *)(void *)ring->base;
}

int ring_cost_read(const struct ring_reader *ring, double ns_per_tick, struct ring_cost *ret) {
  struct ring_header *header = header_of(ring);
  uint32_t unit = *(volatile uint32_t *)&header->cost_unit;
  if (unit > RING_COST_NS) return -EBADMSG;
  /* Acquire: partner of the target's release, so that cost_p50 and cost_p99 are visible. */
  uint32_t runs = atomic_load_explicit(&header->cost_runs, memory_order_acquire);
  uint32_t p50 = *(volatile uint32_t *)&header->cost_p50;
  uint32_t p99 = *(volatile uint32_t *)&header->cost_p99;
  double ns_per_unit = unit == RING_COST_TICKS ? ns_per_tick : 1;
  if (unit == RING_COST_NONE || runs == 0 || ns_per_unit <= 0) return -ENODATA;
  if (p99 < p50) return -EBADMSG;
  *ret = (struct ring_cost){.runs = runs,
                            .p50_ns = (uint64_t)(p50 * ns_per_unit),
                            .p99_ns = (uint64_t)(p99 * ns_per_unit)};
  return 0;
}
