/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit words that a target and the daemon share, on every CPU. On a CPU without atomic access of
   that width (32-bit MIPS) libc would use a lock. A signal handler must not take a lock, and
   another process does not share it. There a word is two halves (wide_halves.h), which is correct
   under the conditions stated for each operation. All are signal-safe. */
#ifndef RING_WIDE_H
#define RING_WIDE_H

#include "wide_halves.h"

enum { WIDE_IS_WHOLE = __atomic_always_lock_free(sizeof(uint64_t), 0) };

/* The value of WORD. Acquire: partner of the release in wide_store, wide_clear and wide_add. */
static inline uint64_t wide_load(const _Atomic uint64_t *word) {
  return WIDE_IS_WHOLE ? atomic_load_explicit(word, memory_order_acquire) : wide_halves_load(word);
}

/* The same without an order, as for a word that only the caller changes. */
static inline uint64_t wide_peek(const _Atomic uint64_t *word) {
  return WIDE_IS_WHOLE ? atomic_load_explicit(word, memory_order_relaxed) : wide_halves_load(word);
}

/* The same for a counter that is less than 2^31 away from NEAR: exact even while its writer is
   between its halves. */
static inline uint64_t wide_near(const _Atomic uint64_t *word, uint64_t near) {
  return WIDE_IS_WHOLE ? atomic_load_explicit(word, memory_order_acquire)
                       : wide_halves_near(word, near);
}

/* By the only writer of WORD. If WORD is two halves, the upper one is stored last. */
static inline void wide_store(_Atomic uint64_t *word, uint64_t value) {
  if (WIDE_IS_WHOLE)
    atomic_store_explicit(word, value, memory_order_release);
  else
    wide_halves_store(word, value);
}

/* True if a word that was copied during wide_store or wide_clear was set. Of halves, the upper one
   decides: it is not 0 in a set word. */
static inline bool wide_is_set(uint64_t copied) {
  return WIDE_IS_WHOLE ? copied != 0 : copied >> 32 != 0;
}

/* Sets WORD to 0; of halves, the upper is cleared first. */
static inline void wide_clear(_Atomic uint64_t *word) {
  if (WIDE_IS_WHOLE)
    atomic_store_explicit(word, 0, memory_order_release);
  else
    wide_halves_clear(word);
}

/* By any number of writers at once; the sum is exact. Of halves, a reader may see a value without
   the carry. */
static inline void wide_add(_Atomic uint64_t *word, uint64_t more) {
  if (WIDE_IS_WHOLE)
    atomic_fetch_add_explicit(word, more, memory_order_release);
  else
    wide_halves_add(word, more);
}

/* Sets WORD to TO if it is FROM. For words with a process's number in the upper half, or 0 in both.
   Of halves, others read 0 meanwhile, and a writer that dies meanwhile leaves it so. */
static inline bool wide_swap(_Atomic uint64_t *word, uint64_t from, uint64_t to) {
  return WIDE_IS_WHOLE ? atomic_compare_exchange_strong_explicit(
                             word, &from, to, memory_order_acq_rel, memory_order_relaxed)
                       : wide_halves_swap(word, from, to);
}

#endif
