/* SPDX-License-Identifier: Apache-2.0 */
/* A word in two halves, each of which is changed atomically:

     one writer     stores the lower half, then the upper. A reader loads the upper one before
                    and after. Between the two stores of a carry, a few instructions each 2^32, it
                    sees 2^32 too little, unless it knows the approximate value (near)
     many writers   add to the lower half; the one that overflows it adds the carry to the upper.
                    Nothing is lost, and a reader may come before the carry
     swap           owns the word while its upper half is BUSY, a number that no process has

   If a process is killed within the three stores, its half stays BUSY. The word is then unusable
   until the ring is discarded. */
#include "wide_halves.h"

enum {
  BIG_END = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
  LOW = BIG_END,
  HIGH = !BIG_END,
  TRIES = 4
};
#define BUSY UINT32_MAX

/* Elsewhere the same memory is accessed as a word. */
typedef _Atomic uint32_t __attribute__((may_alias)) half;

static inline half *halves_of(_Atomic uint64_t *word) {
  return (half *)(void *)word;
}

static inline const half *halves_in(const _Atomic uint64_t *word) {
  return (const half *)(const void *)word;
}

static inline uint32_t look(const half *part) {
  return atomic_load_explicit(part, memory_order_acquire);
}

static inline void set(half *part, uint32_t value) {
  atomic_store_explicit(part, value, memory_order_release);
}

uint64_t wide_halves_load(const _Atomic uint64_t *word) {
  const half *halves = halves_in(word);
  uint32_t high = look(&halves[HIGH]), low = 0;
  for (unsigned i = 0; i < TRIES; i++) {
    uint32_t before = high;
    low = look(&halves[LOW]);
    high = look(&halves[HIGH]);
    if (high == before) break;
  }
  return high == BUSY ? 0 : (uint64_t)high << 32 | low;
}

uint64_t wide_halves_near(const _Atomic uint64_t *word, uint64_t near) {
  uint32_t ahead = look(&halves_in(word)[LOW]) - (uint32_t)near;
  return near + (uint64_t)(int64_t)(int32_t)ahead;
}

void wide_halves_store(_Atomic uint64_t *word, uint64_t value) {
  half *halves = halves_of(word);
  set(&halves[LOW], (uint32_t)value);
  set(&halves[HIGH], (uint32_t)(value >> 32));
}

void wide_halves_clear(_Atomic uint64_t *word) {
  half *halves = halves_of(word);
  set(&halves[HIGH], 0);
  set(&halves[LOW], 0);
}

void wide_halves_add(_Atomic uint64_t *word, uint64_t more) {
  half *halves = halves_of(word);
  uint32_t low = (uint32_t)more, high = (uint32_t)(more >> 32);
  uint32_t before = atomic_fetch_add_explicit(&halves[LOW], low, memory_order_release);
  if (before > UINT32_MAX - low) high++;
  if (high != 0) atomic_fetch_add_explicit(&halves[HIGH], high, memory_order_release);
}

bool wide_halves_swap(_Atomic uint64_t *word, uint64_t from, uint64_t to) {
  half *halves = halves_of(word);
  uint32_t high = (uint32_t)(from >> 32);
  if (high == BUSY || !atomic_compare_exchange_strong_explicit(
                          &halves[HIGH], &high, BUSY, memory_order_acquire, memory_order_relaxed))
    return false;
  bool is_same = look(&halves[LOW]) == (uint32_t)from;
  if (is_same) set(&halves[LOW], (uint32_t)to);
  set(&halves[HIGH], is_same ? (uint32_t)(to >> 32) : high);
  return is_same;
}
