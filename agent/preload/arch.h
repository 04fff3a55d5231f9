/* SPDX-License-Identifier: Apache-2.0 */
/* What each CPU must answer; one file a CPU, chosen by CMake. */
#ifndef PRELOAD_ARCH_H
#define PRELOAD_ARCH_H

#include <stdbool.h>
#include <stdint.h>

struct arch_registers {
  uintptr_t pc, sp, fp;
  uintptr_t lr; /* the link register, where the CPU has one */
  bool has_lr;
};

/* Reads the interrupted registers out of CONTEXT, a handler's third argument.  Signal-safe. */
void arch_read(const void *context, struct arch_registers *ret);

/* Where, in bytes from the frame pointer, the pair (caller's frame pointer, return address) lies.
   Signal-safe. */
intptr_t arch_frame_offset(void);

/* ADDRESS without what the CPU hides in a return address (a signature, a mode bit).
   Signal-safe. */
uintptr_t arch_strip(uintptr_t address);

#endif
