/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: every CPU has clflush (since SSE2), and user space may use it. It writes a line back and
   evicts it from all data and instruction caches of all CPUs. */
#include "cold.h"

#include <stdint.h>

enum { LINE_BYTES = 64 };

void cold_make(const void *bytes, size_t len) {
  uintptr_t at = (uintptr_t)bytes & ~(uintptr_t)(LINE_BYTES - 1), end = (uintptr_t)bytes + len;
  for (; at < end; at += LINE_BYTES) __asm__ volatile("clflush (%0)" ::"r"(at) : "memory");
  __asm__ volatile("mfence" ::: "memory");
}
