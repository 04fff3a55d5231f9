/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a sampled thread, in the target's private memory. No other process can change it,
   and it is never freed. The handler finds it by the value that the kernel passes with each expiry
   (a token), so no thread-local storage is touched. */
#ifndef PRELOAD_THREAD_SLOT_H
#define PRELOAD_THREAD_SLOT_H

#include "ring/ring_writer.h"
#include "unwind/unwind_frames.h"

#include <stdbool.h>
#include <stddef.h>

enum {
  THREAD_SLOTS_MAX = 1024, /* threads alive at once; further threads are counted as unsampled */
  THREAD_SLOT_ALIGN = 128, /* leaves seven bits of a token for the generation */
};

/* HAS_NEWS: a mark is due before the next sample (ring_record.h). */
enum thread_slot_state { THREAD_SLOT_IDLE = 0, THREAD_SLOT_BUSY = 1, THREAD_SLOT_HAS_NEWS = 2 };

struct thread_slot {
  _Alignas(THREAD_SLOT_ALIGN) _Atomic uint64_t owner; /* ring_owner(pid, tid); 0: free */
  _Atomic uint32_t busy;                              /* enum thread_slot_state */
  uint16_t generation;                                /* incremented at each claim */
  uint16_t pair_bits;         /* log2 of the ring slot's data bytes if it holds pairs; else 0 */
  struct ring_slot *ring;     /* NULL until the first sample */
  struct ring_header *header; /* of that ring */
  _Atomic uint32_t scale;     /* units that an expiry stands for */
  uint32_t seen;              /* the ring's serial, up to which all changes are applied */
  struct unwind_stack stack;  /* high is a multiple of a word */
  /* Up to here: the fields that a sample of a pair reads, in one cache line. */
  uint32_t place;         /* recorder: where the next value is stored; histogram: the last region */
  _Atomic uintptr_t self; /* its thread pointer (arch.h); 0: not known yet */
  _Atomic uint32_t is_open; /* control.c may close it to change its timer */
  uint64_t due_ns;          /* paused: CPU time to its next sample, 0: any; protected by is_open */
  int timer;                /* the kernel's ID, -1: none; protected by is_open */
  bool is_counted;          /* already counted as unsampled */
  bool is_forking;          /* between before and after fork, inside the gate */
  bool was_blocked;         /* the signal was blocked before this thread called fork */
  char name[RING_NAME_BYTES];
};

_Static_assert(offsetof(struct thread_slot, place) <= 64, "one cache line for each sample");

__attribute__((visibility("hidden"))) extern struct thread_slot thread_slots[THREAD_SLOTS_MAX];

/* Claims a free slot for OWNER, or returns NULL. A slot of another pid was left by a fork and is
   free. The slot is not open yet.  Any thread. */
struct thread_slot *thread_slot_claim(uint64_t owner);

/* Frees SLOT and invalidates its tokens. By its owner, after its timer is deleted. */
void thread_slot_release(struct thread_slot *slot);

/* The value for the timer of SLOT.  Signal-safe. */
void *thread_slot_token(struct thread_slot *slot);

/* The number of slots ever used, and the slot at INDEX below that number.  Signal-safe. */
unsigned thread_slot_used(void);
struct thread_slot *thread_slot_at(unsigned index);

/* Locks SLOT: true for the one caller that closed it. Until it is opened, no other caller can close
   it.  Signal-safe. */
bool thread_slot_close(struct thread_slot *slot);
void thread_slot_open(struct thread_slot *slot);

/* Marks news in SLOT: a mark is due before the next sample. NAME, if not NULL, is its thread's new
   name. False if the slot's handler did not end in time: then no mark is written. */
bool thread_slot_tell(struct thread_slot *slot, const char *name);

/* The slot of this process's thread with the thread pointer SELF, or NULL.  Signal-safe. */
struct thread_slot *thread_slot_of(uintptr_t self);

/* The slot of TOKEN, or NULL if it is no token or its thread has ended.  Signal-safe. */
static inline __attribute__((always_inline)) struct thread_slot *
thread_slot_find(const void *token) {
  const uintptr_t low_bits = THREAD_SLOT_ALIGN - 1;
  uintptr_t at = (uintptr_t)token;
  if (at - (uintptr_t)thread_slots >= sizeof thread_slots) return NULL;
  struct thread_slot *slot = (struct thread_slot *)(at & ~low_bits);
  if (slot == NULL) __builtin_unreachable(); /* it lies in thread_slots: callers need no check */
  if (((at ^ slot->generation) & low_bits) != 0) return NULL;
  return wide_peek(&slot->owner) != 0 ? slot : NULL;
}

#endif
