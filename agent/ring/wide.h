/* SPDX-License-Identifier: Apache-2.0 */
/* Words of 64 bits that a target and the daemon share, on every CPU.  Where the CPU has no atomic
   access of that width (MIPS of 32 bits) libc's way is a lock, which a signal handler must not take
   and which another process knows nothing of: there they are two halves (wide_halves.h), and what
   each operation asks of its users is what makes that right.  All are signal-safe. */
#ifndef RING_WIDE_H
#define RING_WIDE_H

#include "wide_halves.h"

enum { WIDE_IS_WHOLE = __atomic_always_lock_free(sizeof(uint64_t), 0) };

/* What WORD holds.  Acquire: partner of the release in the three that change one. */
static inline uint64_t wide_load(const _Atomic uint64_t *word) {
  return WIDE_IS_WHOLE ? atomic_load_explicit(word, memory_order_acquire) : wide_halves_load(word);
}

/* The same without an order, as for a word of one's own. */
static inline uint64_t wide_peek(const _Atomic uint64_t *word) {
  return WIDE_IS_WHOLE ? atomic_load_explicit(word, memory_order_relaxed) : wide_halves_load(word);
}

/* The same of a counter that is less than 2^31 away from NEAR: exact while its writer is between
   its halves. */
static inline uint64_t wide_near(const _Atomic uint64_t *word, uint64_t near) {
  return WIDE_IS_WHOLE ? atomic_load_explicit(word, memory_order_acquire)
                       : wide_halves_near(word, near);
}

/* By the only one who changes WORD.  Of halves the upper comes last. */
static inline void wide_store(_Atomic uint64_t *word, uint64_t value) {
  if (WIDE_IS_WHOLE)
    atomic_store_explicit(word, value, memory_order_release);
  else
    wide_halves_store(word, value);
}

/* Whether a word that was copied while wide_store or wide_clear had begun with it was set: of
   halves the upper one, which is not 0 then, says so. */
static inline bool wide_is_set(uint64_t copied) {
  return WIDE_IS_WHOLE ? copied != 0 : copied >> 32 != 0;
}

/* Makes it 0; of halves the upper goes first. */
static inline void wide_clear(_Atomic uint64_t *word) {
  if (WIDE_IS_WHOLE)
    atomic_store_explicit(word, 0, memory_order_release);
  else
    wide_halves_clear(word);
}

/* By any number at once; the sum is exact.  Of halves a reader may see one that lacks a carry. */
static inline void wide_add(_Atomic uint64_t *word, uint64_t more) {
  if (WIDE_IS_WHOLE)
    atomic_fetch_add_explicit(word, more, memory_order_release);
  else
    wide_halves_add(word, more);
}

/* Makes WORD, if it is FROM, TO.  For words whose upper half is a process's number, or 0 with all
   of it: of halves others read 0 meanwhile, and who dies meanwhile leaves it so. */
static inline bool wide_swap(_Atomic uint64_t *word, uint64_t from, uint64_t to) {
  return WIDE_IS_WHOLE ? atomic_compare_exchange_strong_explicit(
                             word, &from, to, memory_order_acq_rel, memory_order_relaxed)
                       : wide_halves_swap(word, from, to);
}

#endif
