/* SPDX-License-Identifier: Apache-2.0 */
/* The C library's allocator, with this thread's meter before it.  The linker (--wrap) has each call
   from our own objects end here; a library's own, as SQLite's cache of pages, do not, and have
   limits of their own.

     our object --malloc--> __wrap_malloc --has room?--> __real_malloc, the C library's
                                           \-> NULL

   What is counted is what the C library really gives, which is more than what was asked for. */
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

/* The C library moves what is large by its pages, so that old and new are not there at once. */
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
