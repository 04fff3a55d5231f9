/* SPDX-License-Identifier: Apache-2.0 */
/* MIPS, o32: a walk tracks $30, the frame pointer, and $16, the first register that calls preserve.
   Only a table gives the place of a frame's return address. Bit 0 of a return address is set for
   compressed code. At the return from a handler the stack pointer is at the kernel's rt_sigframe:
   six words, siginfo (128 bytes), then struct ucontext. Its registers have 64 bits with the lower
   half first. */
#include "unwind_arch.h"

#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define SAVED(field) (24 + 128 + offsetof(ucontext_t, uc_mcontext.field))

const struct unwind_arch unwind_arch = {
    .machine = EM_MIPS,
    .pc = 31,
    .sp = 29,
    .lr = 31,
    .tracked = {30, 16},
    .has_lr = true,
    .has_frame_pairs = false,
    .pair_offset = 0,
    .call_bytes = 4,
    .return_mask = 0xfffffffe,
    .signal = {.pc = SAVED(pc),
               .sp = SAVED(gregs[29]),
               .lr = SAVED(gregs[31]),
               .tracked = {SAVED(gregs[30]), SAVED(gregs[16])},
               .general = SAVED(gregs[0]),
               .general_step = 8},
    .general_count = 32,
    .general = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
};
