/* SPDX-License-Identifier: Apache-2.0 */
/* The handler never reads a clock or the CPU's counter: in strict seccomp and under PR_SET_TSC the
   instruction ends the program, neither can be seen from a handler, and whoever looked from outside
   would look too early.  At set-up there is one thread and no sandbox that came later: what may be
   read now can be read for certain, and the program has not begun.  So dry runs of the walk are
   timed here, once.  They are warm and on a shallow stack: a low figure, and said to be one.

   Where there is no counter, or a program up the line has forbidden it, they are timed in
   nanoseconds by the system's clock: by a system call, because the fast way of libc reads that
   counter too.  A system call takes as long as many walks, so they are timed in batches. */
#include "cost_setup.h"
#include "raw_syscall.h"
#include "ring/ticks.h"

#include <sys/prctl.h>
#include <time.h>

enum { DRY_RUNS = 32, DRY_BATCH = 64 };

/* The kernel's answer to PR_GET_TSC; one that does not know the question cannot forbid. */
static bool is_readable(void) {
  int setting = PR_TSC_ENABLE;
  if (!ticks_are_there()) return false;
  long error = raw_syscall(SYS_prctl, PR_GET_TSC, (uintptr_t)&setting, 0, 0);
  return error != 0 || setting == PR_TSC_ENABLE;
}

static void walk(const struct unwind_stack *stack) {
  uint64_t pcs[RING_DEPTH_MAX];
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  struct arch_registers at = {.pc = here, .sp = here, .fp = here};
  struct unwind_trace trace = {.pcs = pcs, .room = RING_DEPTH_MAX};
  unwind(&at, stack, &trace);
}

static uint64_t now_ns(void) {
  struct timespec now = {0, 0};
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (uintptr_t)&now, 0, 0);
  return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void book(struct ring_header *header, uint64_t took) {
  if (took >> RING_COST_BUCKETS != 0) return;
  unsigned bucket = 31 - (unsigned)__builtin_clz((uint32_t)took | 1);
  atomic_fetch_add_explicit(&header->cost[bucket], 1, memory_order_relaxed);
}

void cost_setup(const struct ring_writer *ring, const struct unwind_stack *stack) {
  struct ring_header *header = (struct ring_header *)(void *)ring->base;
  bool is_counted = is_readable();
  header->cost_unit = is_counted ? RING_COST_TICKS : RING_COST_NS;
  for (int i = 0; i < DRY_RUNS; i++) {
    int batch = is_counted ? 1 : DRY_BATCH;
    uint64_t start = is_counted ? ticks_now() : now_ns();
    for (int run = 0; run < batch; run++) walk(stack);
    uint64_t took = (is_counted ? ticks_now() : now_ns()) - start;
    book(header, took / (uint64_t)batch);
  }
}
