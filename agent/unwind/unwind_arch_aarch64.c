/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64: besides x29 a walk tracks x19, the first register in which compilers keep a stack
   pointer. Compilers put the pair at the bottom of a frame, below the other saved registers. Return
   addresses may carry a pointer authentication code above bit 47, which user addresses do not use.
   (Programs that request 52-bit addresses by a hint to mmap have no code there.) A mask strips it,
   without an instruction that old cores lack. At the return from a handler the stack pointer is at
   the kernel's rt_sigframe: siginfo (128 bytes), then struct ucontext. */
#include "unwind_arch.h"

#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define SAVED(field) (128 + offsetof(ucontext_t, uc_mcontext.field))

const struct unwind_arch unwind_arch = {
    .machine = EM_AARCH64,
    .pc = 30,
    .sp = 31,
    .lr = 30,
    .tracked = {29, 19},
    .has_lr = true,
    .has_frame_pairs = true,
    .pair_offset = 0,
    .is_pair_at_top = false,
    .call_bytes = 4,
    .return_mask = (UINT64_C(1) << 48) - 1,
    .signal = {.pc = SAVED(pc),
               .sp = SAVED(sp),
               .lr = SAVED(regs[30]),
               .tracked = {SAVED(regs[29]), SAVED(regs[19])},
               .general = SAVED(regs[0]),
               .general_step = 8},
    .general_count = 31,
    .general = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30},
};
