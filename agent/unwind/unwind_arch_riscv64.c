/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V: a walk tracks s0, the frame pointer, which points directly above the pair, and s1. At the
   return from a handler the stack pointer is at the kernel's rt_sigframe: siginfo (128 bytes), then
   struct ucontext. */
#include "unwind_arch.h"

#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define SAVED(reg) (128 + offsetof(ucontext_t, uc_mcontext.__gregs[reg]))

const struct unwind_arch unwind_arch = {
    .machine = EM_RISCV,
    .pc = 1,
    .sp = 2,
    .lr = 1,
    .tracked = {8, 9},
    .has_lr = true,
    .has_frame_pairs = true,
    .pair_offset = -16,
    .is_pair_at_top = true,
    .call_bytes = 2,
    .return_mask = UINT64_MAX,
    .signal = {.pc = SAVED(0),
               .sp = SAVED(2),
               .lr = SAVED(1),
               .tracked = {SAVED(8), SAVED(9)},
               .general = SAVED(0),
               .general_step = 8},
    .general_count = 32,
    .general = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
};
