/* SPDX-License-Identifier: Apache-2.0 */
/* The handler interrupts the program at any instruction: inside malloc, inside the loader's lock,
   on a 16 KiB stack, between a failed call and the check of errno. So it calls only the files
   beside it. It uses no libc, system call, thread-local storage, lock or floating point, and under
   1 KiB of stack (tests/handler.sh checks the object code).

   An event counts if the kernel reports that a timer made it and its value is the token of a living
   thread. With a process's clock (itimer) the kernel itself must have sent it. The thread is then
   found by its thread pointer, and a thread without a slot is counted. Every other event on this
   signal is ignored. The signal was at its default when the agent took it, so there is no older
   handler. A profiler must not end the program as the default would.

   The ring's slot is claimed at the first sample. If the daemon has freed it meanwhile (it believed
   the thread gone), another is claimed: the owner word shows this.

   A recorder is read after a crash, so the program's own handler of that crash, which may take
   seconds, must not overwrite it. While such a handler runs, its signal is blocked in the thread,
   which the saved context shows. Nothing is recorded then, and the sample is counted as a signal
   that met a handler. In other modes such a handler is sampled like any code: programs use faults
   as control flow, and a sample there is as safe as elsewhere.

   A signal that the thread had blocked waits until the thread unblocks it: at the end of a call
   that unblocks it, or that did so for its own duration (ppoll and the like). The CPU time was
   spent elsewhere, so this is no sample, and the time counts as unsampled.

   The weight is in units of the ring. The kernel's tick merges expiries that it could not deliver
   in time and reports their number. Each stands for as many units as the thread's period has. */
#include "sampler.h"
#include "arch.h"
#include "ring/recorder_writer.h"
#include "thread_slot.h"
#include "unwind/unwind_frames.h"
#include "unwind/unwind_stacks.h"

#include <stddef.h>
#include <ucontext.h>

static _Alignas(64) struct ring_writer ring; /* most modes read one cache line of it */
static struct unwind_shared shared;
uintptr_t sampler_mask_calls[SAMPLER_MASK_CALLS];

enum { MASK_CALL_BYTES = 256 /* bytes of code until its system call has returned */ };

void sampler_init(const struct ring_writer *from) {
  ring = *from;
}

const struct ring_writer *sampler_ring(void) {
  return &ring;
}

void sampler_use_tables(const struct unwind_shared *from) {
  shared = *from;
}

const struct unwind_shared *sampler_tables(void) {
  return &shared;
}

static uint64_t owner_of(struct thread_slot *thread) {
  return wide_peek(&thread->owner);
}

/* Returns false if there is no room. */
static __attribute__((noinline, cold)) bool put_mark(const struct thread_slot *thread,
                                                     struct ring_slot *slot) {
  struct ring_mark mark = {.unloads = ring_writer_unloads(&ring)};
  const uint64_t *words = (const uint64_t *)(const void *)&mark;
  for (unsigned i = 0; i < RING_NAME_BYTES; i++) mark.name[i] = thread->name[i];
  if (ring.collect == RING_PC_LR)
    return ring_writer_put_pair(&ring, slot, (struct ring_pair){RING_PAIR_MARK_LAST, words[2]}) ==
               0 &&
           ring_writer_put_pair(&ring, slot, (struct ring_pair){mark.unloads, words[1]}) == 0;
  struct ring_record *record = ring_writer_reserve(&ring, slot);
  if (record == NULL) return false;
  record->depth = sizeof mark / sizeof *words;
  record->flags = RING_RECORD_PADDING | RING_RECORD_MARK;
  record->weight = 0;
  for (unsigned i = 0; i < sizeof mark / sizeof *words; i++) record->pc[i] = words[i];
  ring_writer_commit(slot, record);
  return true;
}

static __attribute__((noinline, cold)) struct ring_slot *claim(struct thread_slot *thread) {
  thread->ring = ring_writer_claim(&ring, owner_of(thread), thread->name);
  thread->place = 0;
  bool is_short =
      thread->ring != NULL && ring.collect == RING_PC_LR && ring.clock == RING_CLOCK_THREAD;
  thread->pair_bits = is_short ? (uint16_t)__builtin_ctz(ring.slot_bytes) : 0;
  thread->header = (struct ring_header *)(void *)ring.base;
  if (thread->ring != NULL && ring_writer_unloads(&ring) != 0) put_mark(thread, thread->ring);
  if (thread->ring == NULL && !thread->is_counted) {
    thread->is_counted = true;
    ring_writer_count_unsampled(&ring);
  }
  return thread->ring;
}

static struct ring_slot *ring_slot_of(struct thread_slot *thread) {
  struct ring_slot *slot = thread->ring;
  if (slot != NULL && wide_peek(&slot->owner) == owner_of(thread)) return slot;
  return claim(thread);
}

static uint32_t scale_of(const struct thread_slot *thread) {
  return atomic_load_explicit(&thread->scale, memory_order_relaxed);
}

static uint32_t weight_of(const struct thread_slot *thread, const siginfo_t *event) {
  uint32_t scale = scale_of(thread);
  if (event->si_overrun <= 0) return scale;
  uint64_t units = (1 + (uint64_t)event->si_overrun) * scale;
  return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

/* One function for each collect mode, none inlined: a mode does not save registers that only
   another needs. */
#define NOINLINE __attribute__((noinline))

static uint8_t end_flags(enum unwind_end end) {
  return (uint8_t)((end + 1U) << RING_RECORD_END_SHIFT);
}

/* Returns RECORD's flags, or 0 if there are no tables to walk by. */
static NOINLINE uint8_t walk_by_tables(struct thread_slot *thread, struct unwind_registers *at,
                                       struct ring_record *record, const void *context) {
  const struct unwind_stack *bounds = &thread->stack;
  const stack_t *alternate = &((const ucontext_t *)context)->uc_stack;
  struct unwind_stacks stacks = {.low = bounds->low,
                                 .high = bounds->top != 0 ? bounds->top : bounds->high,
                                 .is_whole = bounds->top != 0,
                                 .map = shared.map,
                                 .pid = (uint32_t)(owner_of(thread) >> 32)};
  struct unwind_code code;
  struct unwind_path path = {.pcs = record->pc, .room = ring.depth_max};
  if (!unwind_map_begin(&shared, ring_writer_unloads(&ring), &code, &stacks.serial)) return 0;
  if ((alternate->ss_flags & SS_DISABLE) == 0) {
    stacks.alternate_low = (uintptr_t)alternate->ss_sp;
    stacks.alternate_high = stacks.alternate_low + alternate->ss_size;
  }
  struct unwind_memory stack;
  unwind_stacks_begin(&stacks, at->sp, context, &stack);
  at->general = arch_general(context);
  unwind_walk(at, &stack, &code, &path);
  if (!unwind_map_holds(shared.map, stacks.serial)) return 0;
  record->depth = (uint8_t)path.depth;
  return end_flags(path.end);
}

static NOINLINE uint8_t walk_by_frames(const struct thread_slot *thread,
                                       const struct unwind_registers *at,
                                       struct ring_record *record) {
  struct unwind_trace trace = {.pcs = record->pc, .room = ring.depth_max};
  unwind_frames(at, &thread->stack, &trace);
  record->depth = (uint8_t)trace.depth;
  return (uint8_t)((trace.is_truncated ? RING_RECORD_TRUNCATED : 0) |
                   (trace.has_lr ? RING_RECORD_HAS_LR : 0) |
                   (trace.is_other ? end_flags(UNWIND_OTHER) : 0));
}

static NOINLINE void put_stack(struct thread_slot *thread, struct unwind_registers *at,
                               uint32_t weight, const void *context) {
  struct ring_slot *slot = ring_slot_of(thread);
  if (slot == NULL) return;
  struct ring_record *record = ring_writer_reserve(&ring, slot);
  if (record == NULL) return;
  uint8_t flags = shared.map != NULL ? walk_by_tables(thread, at, record, context) : 0;
  if (flags == 0) flags = walk_by_frames(thread, at, record);
  record->weight = weight;
  record->flags = flags;
  ring_writer_commit(slot, record);
}

/* Writes the weight that one pair could not hold: as many pairs as it needs, or as fit. */
static NOINLINE void put_more_pairs(struct ring_slot *slot, uint64_t pc, uint64_t link,
                                    uint32_t weight) {
  while (weight != 0) {
    uint64_t word = ring_word(pc, &weight);
    if (ring_writer_put_pair(&ring, slot, (struct ring_pair){word, link}) != 0) return;
  }
}

static NOINLINE void put_pair(struct thread_slot *thread, const struct unwind_registers *at,
                              uint32_t weight) {
  struct ring_slot *slot = ring_slot_of(thread);
  if (slot == NULL) return;
  uint64_t link = unwind_link(at, &thread->stack), word = ring_word(at->pc, &weight);
  if (ring_writer_put_pair(&ring, slot, (struct ring_pair){word, link}) != 0) return;
  if (weight != 0) put_more_pairs(slot, at->pc, link, weight);
}

#define BIT(signal) (1UL << ((signal)-1))
/* The thread was interrupted in its handler of a fault or of abort. */
static inline bool is_crashing(const ucontext_t *context) {
  const unsigned long *mask = (const unsigned long *)(const void *)&context->uc_sigmask;
  return (*mask & (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGABRT))) != 0;
}

static NOINLINE void put_value(struct thread_slot *thread, const struct unwind_registers *at,
                               uint32_t weight, const void *context) {
  struct ring_slot *slot = ring_slot_of(thread);
  if (slot == NULL) return;
  if (is_crashing(context)) {
    ring_writer_count_reentry(slot);
    return;
  }
  recorder_writer_put(slot, ring.slot_bytes, ring_word(at->pc, &weight), &thread->place);
  if (weight != 0) ring_writer_count_full(slot, weight);
}

/* All modes but pairs, which have the fast path because they serve the smallest boards. */
static inline __attribute__((always_inline)) void put_other(struct thread_slot *thread,
                                                            struct unwind_registers *at,
                                                            uint32_t weight, const void *context) {
  if (ring.collect == RING_STACKS)
    put_stack(thread, at, weight, context);
  else if (ring.collect == RING_RECORDER)
    put_value(thread, at, weight, context);
  else
    histogram_writer_add(&ring.histogram, at->pc, weight, &thread->place);
}

static inline __attribute__((always_inline)) void take(struct thread_slot *thread, uint32_t weight,
                                                       const void *context) {
  struct unwind_registers at;
  arch_read(context, &at);
  if (ring.collect == RING_PC_LR)
    put_pair(thread, &at, weight);
  else
    put_other(thread, &at, weight, context);
}

static void count_reentry(const struct thread_slot *thread, uint32_t weight) {
  if (ring.collect == RING_HISTOGRAM)
    histogram_writer_count_reentry(&ring.histogram, weight);
  else if (thread->ring != NULL)
    ring_writer_count_reentry(thread->ring);
}

/* False: the handler is already running, or there is no room for a mark that must come first. */
static __attribute__((noinline, cold)) bool may_go_on(struct thread_slot *thread, uint32_t state,
                                                      uint32_t weight) {
  if (state == THREAD_SLOT_BUSY) {
    count_reentry(thread, weight);
    return false;
  }
  if (ring.collect > RING_PC_LR) return true; /* no marks in these modes */
  struct ring_slot *slot = ring_slot_of(thread);
  if (slot == NULL || put_mark(thread, slot)) return true;
  atomic_store_explicit(&thread->busy, THREAD_SLOT_HAS_NEWS, memory_order_release);
  return false;
}

/* True if the thread had blocked the signal before it arrived. */
static NOINLINE __attribute__((cold)) bool has_waited(int signal, const void *context) {
  struct unwind_registers at;
  bool is_in_call = false;
  if (arch_is_masked(signal, context) != 0) return true;
  if (!arch_is_behind_sigprocmask(context)) return false;
  arch_read(context, &at);
  for (unsigned i = 0; i < SAMPLER_MASK_CALLS; i++)
    is_in_call |= sampler_mask_calls[i] != 0 && at.pc - sampler_mask_calls[i] < MASK_CALL_BYTES;
  return is_in_call;
}

/* Acquire: partner of the release that stores THREAD_SLOT_IDLE. One taker at a time, whatever sent
   the signal. */
static inline __attribute__((always_inline)) void take_once(struct thread_slot *thread,
                                                            uint32_t weight, const siginfo_t *event,
                                                            const void *context) {
  uint32_t state = atomic_exchange_explicit(&thread->busy, THREAD_SLOT_BUSY, memory_order_acquire);
  if (state != THREAD_SLOT_IDLE && !may_go_on(thread, state, weight)) return;
  bool may_have_waited = arch_may_have_waited(event->si_signo, context) != 0;
  if (!__builtin_expect(may_have_waited, 0) || !has_waited(event->si_signo, context))
    take(thread, weight, context);
  atomic_store_explicit(&thread->busy, THREAD_SLOT_IDLE, memory_order_release);
}

/* The thread and weight of EVENT, or NULL. A process's clock sends no token and no overrun. */
static NOINLINE struct thread_slot *meet_process_clock(const siginfo_t *event,
                                                       uint32_t *ret_weight) {
  if (event->si_code != SI_KERNEL) return NULL;
  struct thread_slot *thread = thread_slot_of(arch_thread_pointer());
  if (thread != NULL)
    *ret_weight = scale_of(thread);
  else
    ring_writer_count_strayed(&ring);
  return thread;
}

void sampler_take(struct thread_slot *thread, const siginfo_t *event, const void *context) {
  uint32_t weight = 0;
  if (!ring_writer_is_on(&ring)) return;
  if (__builtin_expect(ring.clock != RING_CLOCK_THREAD, 0))
    thread = meet_process_clock(event, &weight);
  else if (event->si_code != SI_TIMER)
    return;
  else if (thread != NULL)
    weight = weight_of(thread, event);
  if (thread != NULL) take_once(thread, weight, event, context);
}

void sampler_on_signal(int signal, siginfo_t *event, void *context) {
  (void)signal;
  sampler_take(thread_slot_find(event->si_value.sival_ptr), event, context);
}
