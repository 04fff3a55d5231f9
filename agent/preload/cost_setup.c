/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of a sample before the program begins. The handler itself never reads a clock
   or the CPU's counter. In strict seccomp and under PR_SET_TSC the instruction ends the program; a
   handler cannot detect either, and a check beforehand would be too early. At set-up there is one
   thread and no later sandbox, so a counter that is readable now stays so until the measurement
   ends. The handler runs here, before the first timer. It gets the event of a timer, the registers
   of a thread with FRAMES frames on its stack, and a scratch ring. No record, slot or counter of
   the real ring changes. A histogram uses its real counters, and each run there weighs 0. If stacks
   will be walked by tables, these runs walk tables of the kind that the daemon makes.

   Three of four runs find their data in the cache, as in a program with a small working set. Before
   the fourth, code and data are evicted, which is worse than any program with a large working set.
   So the median describes the former, and the 99th percentile the latter. The kernel's delivery of
   the signal is not included; the daemon measures it.

   Without a usable counter, or if an earlier program has forbidden it, runs are timed in
   nanoseconds by the system's clock. That takes a system call, because libc's fast path reads the
   counter too. A system call takes as long as several runs, so warm runs are timed in batches. No
   round begins after LIMIT_NS of CPU time. */
#include "cost_setup.h"
#include "arch.h"
#include "cold.h"
#include "cost_tables.h"
#include "raw_clock.h"
#include "raw_syscall.h"
#include "ring/ticks.h"
#include "sampler.h"
#include "thread_slot.h"
#include "unwind/unwind_frames.h"
#include "unwind/unwind_walk.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>

enum {
  ROUNDS = 32,
  WARM_RUNS = 3, /* a round; plus one cold run */
  RUNS = ROUNDS * (WARM_RUNS + 1),
  BATCH = 16, /* warm runs between two system calls */
  EMPTY_RUNS = 4,
  FRAMES = 16,
  SCRATCH_BYTES = RING_HEADER_BYTES + RING_SLOT_HEADER_BYTES + RING_SLOT_BYTES_MIN,
  PAGE_BYTES = 4096,
  RECORD_BYTES = sizeof(struct ring_record) + (FRAMES + 1) * sizeof(uint64_t),
  IMAGE_LOOK_BYTES = 1024, /* of the region table; a search may touch these */
};
#define LIMIT_NS 200000

/* On separate cache lines, as real frames are. */
struct frame {
  uintptr_t next, return_address;
  uint8_t locals[COST_TABLES_FRAME_BYTES - 2 * sizeof(uintptr_t)];
};

_Static_assert(offsetof(struct frame, return_address) == COST_TABLES_RETURN, "the rules' place");

struct stand {
  struct ring_writer ring; /* the scratch ring */
  struct cost_tables tables;
  bool has_tables;
  struct thread_slot *thread;
  siginfo_t event;
  ucontext_t context;
  struct frame frames[FRAMES];
  bool is_counted;
  uint64_t idle; /* the overhead of the clock */
};

/* The kernel's answer to PR_GET_TSC. A kernel without that call cannot forbid the counter. */
static bool is_readable(void) {
  int setting = PR_TSC_ENABLE;
  if (!ticks_are_there()) return false;
  long error = raw_syscall(SYS_prctl, PR_GET_TSC, (uintptr_t)&setting, 0, 0);
  return error != 0 || setting == PR_TSC_ENABLE;
}

static uint64_t now_ns(clockid_t clock) {
  uint64_t ns = 0;
  raw_clock_ns(clock, &ns);
  return ns;
}

static uint64_t now_units(const struct stand *stand) {
  return stand->is_counted ? ticks_now() : now_ns(CLOCK_MONOTONIC);
}

static struct ring_slot *slot_of(const struct stand *stand) {
  return (struct ring_slot *)(void *)stand->ring.slots;
}

/* Takes one sample and removes it at once. */
static void run(struct stand *stand) {
  sampler_on_signal(stand->event.si_signo, &stand->event, &stand->context);
  if (stand->ring.collect == RING_HISTOGRAM) return;
  struct ring_slot *slot = slot_of(stand);
  wide_store(&slot->head, 0);
  stand->thread->place = 0;
}

static uint32_t time_runs(struct stand *stand, unsigned count) {
  uint64_t start = now_units(stand);
  for (unsigned i = 0; i < count; i++) run(stand);
  uint64_t took = now_units(stand) - start;
  took = took > stand->idle ? (took - stand->idle) / (count ? count : 1) : 0;
  return took < UINT32_MAX ? (uint32_t)took : UINT32_MAX;
}

static void find_idle(struct stand *stand) {
  uint64_t least = UINT32_MAX;
  for (unsigned i = 0; i < EMPTY_RUNS; i++) {
    uint64_t took = time_runs(stand, 0);
    if (took < least) least = took;
  }
  stand->idle = least;
}

static void chill_page_of(uintptr_t address) {
  cold_make((const void *)(address & ~(uintptr_t)(PAGE_BYTES - 1)), PAGE_BYTES);
}

/* Evicts all that a sample reads and writes, except the data that the kernel has just written. */
static void chill(const struct stand *stand) {
  const struct ring_writer *ring = &stand->ring;
  chill_page_of((uintptr_t)sampler_on_signal);
  chill_page_of((uintptr_t)unwind_frames);
  if (stand->has_tables) {
    chill_page_of((uintptr_t)unwind_walk);
    chill_page_of((uintptr_t)unwind_table_look);
    cost_tables_chill(&stand->tables);
  }
  chill_page_of((uintptr_t)ring_writer_reserve);
  cold_make(sampler_ring(), sizeof *ring);
  cold_make(stand->thread, sizeof *stand->thread);
  cold_make(stand->frames, sizeof stand->frames);
  cold_make(ring->base, sizeof(uint64_t) * 8);
  if (ring->collect != RING_HISTOGRAM) {
    cold_make(ring->slots, RING_SLOT_HEADER_BYTES + RECORD_BYTES);
    return;
  }
  cold_make(ring->histogram.header, sizeof *ring->histogram.header);
  cold_make(ring->histogram.image, IMAGE_LOOK_BYTES);
}

static void sort(uint32_t *values, unsigned count) {
  for (unsigned i = 1; i < count; i++) {
    uint32_t value = values[i];
    unsigned at = i;
    for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
    values[at] = value;
  }
}

/* Never the largest: in that run another process had the CPU. */
static unsigned rank_99(unsigned count) {
  unsigned rank = (count * 99 + 99) / 100 - 1;
  return rank + 1 < count ? rank : count - 2;
}

static void book(struct ring_header *header, uint32_t *values, unsigned count) {
  sort(values, count);
  header->cost_p50 = values[(count - 1) / 2];
  header->cost_p99 = values[rank_99(count)];
  /* Release: a reader that loads the number of runs sees cost_p50 and cost_p99 as well. */
  atomic_store_explicit(&header->cost_runs, count, memory_order_release);
}

static unsigned measure(struct stand *stand, uint32_t values[RUNS]) {
  unsigned count = 0, batch = stand->is_counted ? 1 : BATCH;
  uint64_t start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
  run(stand); /* claims the slot, as a thread's first sample does */
  find_idle(stand);
  for (unsigned i = 0; i < ROUNDS && now_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns < LIMIT_NS; i++) {
    chill(stand);
    values[count++] = time_runs(stand, 1);
    for (unsigned j = 0; j < WARM_RUNS; j++) values[count++] = time_runs(stand, batch);
  }
  return count;
}

static void forge(struct stand *stand) {
  struct unwind_registers at = {.pc = (uintptr_t)forge};
  const intptr_t pair_offset = unwind_arch.pair_offset;
  for (unsigned i = 0; i < FRAMES; i++) {
    bool is_last = i + 1 == FRAMES;
    stand->frames[i].next = is_last ? 0 : (uintptr_t)&stand->frames[i + 1] - (uintptr_t)pair_offset;
    stand->frames[i].return_address = stand->has_tables ? cost_tables_code(i + 1) : at.pc;
  }
  if (stand->has_tables) at.pc = cost_tables_code(0);
  at.sp = (uintptr_t)stand->frames;
  at.tracked[0] = at.sp - (uintptr_t)pair_offset;
  at.lr = at.pc;
  arch_write(&stand->context, &at);
  stand->thread->stack =
      (struct unwind_stack){.low = at.sp, .high = (uintptr_t)(stand->frames + FRAMES)};
  if (stand->ring.collect == RING_HISTOGRAM) atomic_store(&stand->thread->scale, 0);
  atomic_store(&stand->thread->self, arch_thread_pointer());
  stand->event.si_code = stand->ring.clock == RING_CLOCK_THREAD ? SI_TIMER : SI_KERNEL;
  stand->event.si_value.sival_ptr = thread_slot_token(stand->thread);
}

/* Walks made-up tables from here on, if real tables will be used. */
static void borrow_tables(struct stand *stand) {
  bool is_wanted = stand->ring.collect == RING_STACKS && sampler_tables()->map != NULL;
  stand->has_tables = is_wanted && cost_tables_make(&stand->tables) == 0;
  if (stand->has_tables) sampler_use_tables(&stand->tables.shared);
}

void cost_setup(const struct ring_writer *ring) {
  uint32_t values[RUNS];
  const struct unwind_shared tables = *sampler_tables();
  struct ring_header *header = (struct ring_header *)(void *)ring->base;
  struct stand stand = {.ring = *ring, .is_counted = is_readable()};
  void *scratch =
      mmap(NULL, SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (scratch == MAP_FAILED) return;
  stand.thread = thread_slot_claim(ring_owner(raw_getpid(), raw_gettid()));
  if (stand.thread != NULL) {
    stand.ring.base = scratch; /* all zero: running, and its slot is free */
    stand.ring.slots = stand.ring.base + RING_HEADER_BYTES;
    stand.ring.slot_count = 1;
    stand.ring.slot_bytes = RING_SLOT_BYTES_MIN;
    borrow_tables(&stand);
    forge(&stand);
    sampler_init(&stand.ring);
    header->cost_unit = stand.is_counted ? RING_COST_TICKS : RING_COST_NS;
    unsigned count = measure(&stand, values);
    sampler_init(ring);
    sampler_use_tables(&tables);
    if (stand.has_tables) cost_tables_free(&stand.tables);
    thread_slot_release(stand.thread);
    if (count > 0) book(header, values, count);
  }
  munmap(scratch, SCRATCH_BYTES);
}
