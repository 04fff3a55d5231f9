/* SPDX-License-Identifier: Apache-2.0 */
/* Saturating sums of numbers that a peer can choose. */
#ifndef COMMON_SUMS_H
#define COMMON_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/* The maximum of a signed 64-bit column. */
#define SUM_MAX ((uint64_t)INT64_MAX)

/* True if A + B is at most SUM_MAX. */
static inline bool sum_fits(uint64_t a, uint64_t b) {
  return a <= SUM_MAX && b <= SUM_MAX - a;
}

/* Returns A + B, at most SUM_MAX. */
static inline uint64_t sum_of(uint64_t a, uint64_t b) {
  return sum_fits(a, b) ? a + b : SUM_MAX;
}

/* The same between INT64_MIN and INT64_MAX. */
static inline int64_t sum_of_signed(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

/* Nanoseconds of a whole fleet: ten thousand boards of four CPUs spend 10^20 in a month, more than
   64 bits hold. 32-bit compilers have no wider integer; programs built by them read only single
   recordings. */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide_sum;
static inline bool wide_sum_is_long(wide_sum sum) { /* exceeds 64 bits */
  return sum > UINT64_MAX;
}
#else
typedef uint64_t wide_sum;
static inline bool wide_sum_is_long(wide_sum sum) {
  (void)sum;
  return false;
}
#endif

/* Returns SUM, at most SUM_MAX: for formats that hold no more. */
static inline uint64_t wide_sum_cut(wide_sum sum) {
  return sum > SUM_MAX ? SUM_MAX : (uint64_t)sum;
}

enum { WIDE_SUM_DIGITS = 39 };

/* Writes SUM's digits to RET. Returns their number. */
static inline unsigned wide_sum_print(wide_sum sum, char ret[WIDE_SUM_DIGITS + 1]) {
  char digits[WIDE_SUM_DIGITS];
  unsigned at = WIDE_SUM_DIGITS, len;
  do digits[--at] = (char)('0' + (unsigned)(sum % 10));
  while ((sum /= 10) > 0);
  len = WIDE_SUM_DIGITS - at;
  for (unsigned i = 0; i < len; i++) ret[i] = digits[at + i];
  ret[len] = '\0';
  return len;
}

#endif
