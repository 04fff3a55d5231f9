/* SPDX-License-Identifier: Apache-2.0 */
/* At set-up there is one thread and no sandbox that came later, so what may be read now can be read
   for certain.  Dry runs of the walk, in the unit that the handler will use, give the daemon a
   figure before the first grant; they are warm and on a shallow stack, so it is a low one.

   Where there is no counter, or a program up the line has forbidden it, the dry runs are all there
   will be, timed in nanoseconds by the system's clock: by a system call, because the fast way of
   libc reads that counter too.  A system call takes as long as many walks, so they are timed in
   batches. */
#include "raw_syscall.h"
#include "ring/ticks.h"
#include "self_cost.h"

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

void cost_setup(const struct ring_writer *ring, const struct unwind_stack *stack) {
  struct ring_header *header = (struct ring_header *)(void *)ring->base;
  bool is_counted = is_readable();
  header->cost_unit = is_counted ? RING_COST_TICKS : RING_COST_NS;
  for (int i = 0; i < DRY_RUNS; i++) {
    int batch = is_counted ? 1 : DRY_BATCH;
    uint64_t start = is_counted ? ticks_now() : now_ns();
    for (int run = 0; run < batch; run++) walk(stack);
    uint64_t took = (is_counted ? ticks_now() : now_ns()) - start;
    self_cost_book(ring, took / (uint64_t)batch);
  }
  if (is_counted) self_cost_allow();
}
