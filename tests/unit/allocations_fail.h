/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the n-th allocation of our own objects fail, in a test linked by CMake's
   allocations_fail(TEST). One thread of the test sets it; an allocation fails once. */
#ifndef TESTS_ALLOCATIONS_FAIL_H
#define TESTS_ALLOCATIONS_FAIL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t len);
void *__real_calloc(size_t count, size_t len);
void *__real_realloc(void *old, size_t len);
void *__real_reallocarray(void *old, size_t count, size_t len);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t count, size_t len);
void *__wrap_realloc(void *old, size_t len);
void *__wrap_reallocarray(void *old, size_t count, size_t len);
char *__wrap_strdup(const char *text);

static atomic_uint until_failure; /* 0: none fails */
static _Thread_local bool is_chooser;
static atomic_bool spares_chooser; /* and fails in all other threads */

static bool is_failing(void) {
  if (is_chooser == atomic_load(&spares_chooser)) return false;
  unsigned left = atomic_load(&until_failure);
  while (left > 0 && !atomic_compare_exchange_weak(&until_failure, &left, left - 1)) {
  }
  return left == 1;
}

void *__wrap_malloc(size_t len) {
  return is_failing() ? NULL : __real_malloc(len);
}

void *__wrap_calloc(size_t count, size_t len) {
  return is_failing() ? NULL : __real_calloc(count, len);
}

void *__wrap_realloc(void *old, size_t len) {
  return is_failing() ? NULL : __real_realloc(old, len);
}

void *__wrap_reallocarray(void *old, size_t count, size_t len) {
  return is_failing() ? NULL : __real_reallocarray(old, count, len);
}

char *__wrap_strdup(const char *text) {
  return is_failing() ? NULL : __real_strdup(text);
}

static inline bool choose_failure(unsigned n, bool elsewhere) {
  bool has_failed = atomic_exchange(&until_failure, 0) == 0;
  is_chooser = true;
  atomic_store(&spares_chooser, elsewhere);
  atomic_store(&until_failure, n);
  return has_failed;
}

/* Makes the N-th allocation of this thread from now on fail; 0 ends that. Returns whether the
   previous setting caused a failure. */
static inline bool allocations_fail_at(unsigned n) {
  return choose_failure(n, false);
}

/* The same of all other threads' allocations. */
static inline bool allocations_fail_elsewhere_at(unsigned n) {
  return choose_failure(n, true);
}

#endif
