/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed table: no allocation, no lock, and the pointer of a late or forged signal can be checked
   by arithmetic alone. A token is the slot's address with the low bits of its generation in the
   bits that alignment leaves free:

     token:  [ address of a slot, a multiple of 128 ............. ][generation, 7 bits]

   A thread that ends increments the generation, so a signal in flight finds no slot.

   A signal of the process's own clock has no token. There the thread is found by its thread
   pointer, which it has written into its slot. The pointers that a fork copied are cleared before
   the child has a timer. (A raw clone that keeps its creator's thread pointer is taken for its
   creator: one of them at a time, as `busy` ensures.)

   fork copies the table into the child, where every entry has the parent's pid: such entries are
   free there. A thread claims its slot here at its start, but a slot in the ring only with its
   first sample (sampler.c). So children that live for less than a period, or exec at once, do not
   occupy the ring. */
#include "thread_slot.h"

#include <stddef.h>

enum {
  GENERATION_MASK = THREAD_SLOT_ALIGN - 1,
  WAITS_MAX = 100000, /* for a handler: most of a millisecond */
};

struct thread_slot thread_slots[THREAD_SLOTS_MAX];
static _Atomic uint32_t used; /* slots from here on were never touched, and take no memory */

_Static_assert(sizeof thread_slots[0] == THREAD_SLOT_ALIGN, "a token needs its free bits");

static bool is_free(uint64_t holder, uint64_t owner) {
  return holder == 0 || holder >> 32 != owner >> 32;
}

static void note_used(uint32_t count) {
  uint32_t before = atomic_load_explicit(&used, memory_order_relaxed);
  while (before < count && !atomic_compare_exchange_weak_explicit(
                               &used, &before, count, memory_order_release, memory_order_relaxed))
    ;
}

struct thread_slot *thread_slot_claim(uint64_t owner) {
  for (unsigned i = 0; i < THREAD_SLOTS_MAX; i++) {
    struct thread_slot *slot = &thread_slots[i];
    uint64_t holder = wide_peek(&slot->owner);
    if (!is_free(holder, owner)) continue;
    /* Acquire: partner of the release below. */
    if (!wide_swap(&slot->owner, holder, owner)) continue;
    slot->generation++;
    slot->ring = NULL;
    slot->pair_bits = 0;
    slot->seen = 0;
    slot->place = 0;
    atomic_store_explicit(&slot->self, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->scale, 1, memory_order_relaxed);
    slot->due_ns = 0;
    slot->timer = -1;
    slot->is_counted = false;
    slot->is_forking = false;
    slot->was_blocked = false;
    atomic_store_explicit(&slot->busy, 0, memory_order_relaxed);
    note_used(i + 1);
    return slot;
  }
  return NULL;
}

void thread_slot_release(struct thread_slot *slot) {
  slot->generation++;
  slot->pair_bits = 0; /* first: a handler that finds it set uses the ring */
  atomic_signal_fence(memory_order_seq_cst);
  slot->ring = NULL;
  atomic_store_explicit(&slot->self, 0, memory_order_relaxed);
  /* Release: the next owner starts from what was written above. */
  wide_store(&slot->owner, 0);
}

unsigned thread_slot_used(void) {
  return atomic_load_explicit(&used, memory_order_acquire);
}

struct thread_slot *thread_slot_at(unsigned index) {
  return &thread_slots[index];
}

bool thread_slot_close(struct thread_slot *slot) {
  uint32_t open = 1;
  return atomic_compare_exchange_strong(&slot->is_open, &open, 0);
}

void thread_slot_open(struct thread_slot *slot) {
  atomic_store(&slot->is_open, 1);
}

/* The handler reads the name only if there is news, and no signal interrupts this code. If a thread
   renames another that has just read half of the name, that thread gets news again. */
bool thread_slot_tell(struct thread_slot *slot, const char *name) {
  uint32_t state = THREAD_SLOT_HAS_NEWS;
  if (name != NULL) atomic_compare_exchange_strong(&slot->busy, &state, THREAD_SLOT_IDLE);
  for (unsigned i = 0; name != NULL && i < RING_NAME_BYTES - 1; i++) {
    slot->name[i] = *name;
    name += *name != '\0'; /* reads no byte beyond those that the kernel read */
  }
  slot->name[RING_NAME_BYTES - 1] = '\0';
  for (unsigned i = 0; i < WAITS_MAX; i++) {
    state = THREAD_SLOT_IDLE;
    if (atomic_compare_exchange_strong(&slot->busy, &state, THREAD_SLOT_HAS_NEWS) ||
        state == THREAD_SLOT_HAS_NEWS)
      return true;
  }
  return false;
}

struct thread_slot *thread_slot_of(uintptr_t self) {
  uint32_t count = atomic_load_explicit(&used, memory_order_acquire);
  for (uint32_t i = 0; i < count; i++) {
    struct thread_slot *slot = &thread_slots[i];
    if (atomic_load_explicit(&slot->self, memory_order_relaxed) == self &&
        wide_peek(&slot->owner) != 0)
      return slot;
  }
  return NULL;
}

void *thread_slot_token(struct thread_slot *slot) {
  return (uint8_t *)slot + (slot->generation & GENERATION_MASK);
}
