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

/* Puts AT into CONTEXT, as if they had been interrupted. */
void arch_write(void *context, const struct arch_registers *at);

/* What tells the calling thread from all others: the address that the CPU keeps for it.  No
   thread-local storage of ours is touched.  Signal-safe. */
uintptr_t arch_thread_pointer(void);

/* What a walk along the frames must know of a CPU; constants of each file. */
struct arch_frames {
  intptr_t pair_offset;  /* bytes from the frame pointer to the pair (caller's frame pointer,
                            return address) */
  uintptr_t return_mask; /* leaves of a return address what is address, without what the CPU hides
                            in it (a signature, a mode bit) */
};
/* Hidden, so that it is reached without a table of the loader. */
__attribute__((visibility("hidden"))) extern const struct arch_frames arch_frames;

#endif
