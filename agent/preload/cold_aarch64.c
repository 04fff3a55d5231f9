/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64: Linux lets user space clean and invalidate lines by address (SCTLR_EL1.UCI), and
   emulates it on CPUs with an erratum. Lines have at least 16 bytes, nearly always 64: steps of 32
   miss none of 32 or more. */
#include "cold.h"

#include <stdint.h>

enum { STEP_BYTES = 32 };

void cold_make(const void *bytes, size_t len) {
  uintptr_t at = (uintptr_t)bytes & ~(uintptr_t)(STEP_BYTES - 1), end = (uintptr_t)bytes + len;
  for (; at < end; at += STEP_BYTES) {
    __asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
    __asm__ volatile("ic ivau, %0" ::"r"(at) : "memory");
  }
  __asm__ volatile("dsb ish; isb" ::: "memory");
}
