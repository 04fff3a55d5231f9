/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps the C library's allocator with this thread's allocation limit. The linker (--wrap)
   redirects each call from fleetprof's own objects here. Allocations inside libraries, for example
   SQLite's page cache, are not redirected, and have limits of their own.

     our object --malloc--> __wrap_malloc --has room?--> __real_malloc, the C library's
                                           \-> NULL

   The size counted is the C library's usable size, which exceeds the requested one. */
#include "common/meter.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

void *__real_malloc(size_t len);
void *__real_calloc(size_t count, size_t len);
void *__real_realloc(void *old, size_t len);
void __real_free(void *old);
void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t count, size_t len);
void *__wrap_realloc(void *old, size_t len);
void *__wrap_reallocarray(void *old, size_t count, size_t len);
void __wrap_free(void *old);

static void *refuse(void) {
  errno = ENOMEM;
  return NULL;
}

void *__wrap_malloc(size_t len) {
  if (!meter_is_running()) return __real_malloc(len);
  if (!meter_has_room(len)) return refuse();
  void *given = __real_malloc(len);
  meter_count((ptrdiff_t)malloc_usable_size(given));
  return given;
}

void *__wrap_calloc(size_t count, size_t len) {
  size_t bytes;
  if (!meter_is_running()) return __real_calloc(count, len);
  if (__builtin_mul_overflow(count, len, &bytes) || !meter_has_room(bytes)) return refuse();
  void *given = __real_calloc(count, len);
  meter_count((ptrdiff_t)malloc_usable_size(given));
  return given;
}

/* The C library remaps pages of large blocks, so old and new do not exist at once. */
void *__wrap_realloc(void *old, size_t len) {
  if (!meter_is_running()) return __real_realloc(old, len);
  size_t had = malloc_usable_size(old);
  if (len > had && !meter_has_room(len - had)) return refuse();
  void *given = __real_realloc(old, len);
  if (given != NULL || len == 0) meter_count((ptrdiff_t)malloc_usable_size(given) - (ptrdiff_t)had);
  return given;
}

void *__wrap_reallocarray(void *old, size_t count, size_t len) {
  size_t bytes;
  return __builtin_mul_overflow(count, len, &bytes) ? refuse() : __wrap_realloc(old, bytes);
}

void __wrap_free(void *old) {
  if (meter_is_running()) meter_count(-(ptrdiff_t)malloc_usable_size(old));
  __real_free(old);
}
