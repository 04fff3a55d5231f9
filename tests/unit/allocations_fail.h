/* SPDX-License-Identifier: Apache-2.0 */
/* Lets the n-th allocation of this thread fail, in a test that is linked with --wrap for each of
   these. */
#ifndef TESTS_ALLOCATIONS_FAIL_H
#define TESTS_ALLOCATIONS_FAIL_H

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

static _Thread_local unsigned until_failure; /* 0: none fails */

static bool is_failing(void) {
  return until_failure > 0 && --until_failure == 0;
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

/* Begins to let the N-th allocation from now on fail; 0 ends it.  Returns whether one did. */
static inline bool allocations_fail_at(unsigned n) {
  bool has_failed = until_failure == 0;
  until_failure = n;
  return has_failed;
}

#endif
