/* SPDX-License-Identifier: Apache-2.0 */
/* What each CPU must answer of a signal's context and of a thread; one file a CPU, chosen by CMake.
   What a walk must know of it is in unwind/unwind_arch.h. */
#ifndef PRELOAD_ARCH_H
#define PRELOAD_ARCH_H

#include "unwind/unwind_walk.h"

/* Reads the interrupted registers out of CONTEXT, a handler's third argument; lr is left alone
   where the CPU has none; general is not filled in.  Signal-safe. */
void arch_read(const void *context, struct unwind_registers *ret);

/* The general registers in CONTEXT, for unwind_registers.general.  Signal-safe. */
const uint8_t *arch_general(const void *context);

/* Puts AT into CONTEXT, as if they had been interrupted. */
void arch_write(void *context, const struct unwind_registers *at);

/* What tells the calling thread from all others: where libc's descriptor of it begins or ends, by
   the address that the CPU keeps.  No thread-local storage of ours is touched.  Signal-safe. */
uintptr_t arch_thread_pointer(void);

#endif
