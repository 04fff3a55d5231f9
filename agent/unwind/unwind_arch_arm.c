/* SPDX-License-Identifier: Apache-2.0 */
/* ARM: a walk tracks r11, the frame pointer of ARM code, and r7, the frame pointer of Thumb code.
   Neither is usable without a table: GCC's r7 points at the bottom of a function's locals. Bit 0 of
   a return address is set if Thumb code called. At the return from a handler the stack pointer is
   at the kernel's rt_sigframe: siginfo (128 bytes), then struct ucontext. */
#include "unwind_arch.h"

#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define SAVED(field) (128 + offsetof(ucontext_t, uc_mcontext.field))

const struct unwind_arch unwind_arch = {
    .machine = EM_ARM,
    .pc = 14,
    .sp = 13,
    .lr = 14,
    .tracked = {11, 7},
    .has_lr = true,
    .has_frame_pairs = false,
    .pair_offset = 0,
    .call_bytes = 2,
    .return_mask = 0xfffffffe,
    .signal = {.pc = SAVED(arm_pc),
               .sp = SAVED(arm_sp),
               .lr = SAVED(arm_lr),
               .tracked = {SAVED(arm_fp), SAVED(arm_r7)},
               .general = SAVED(arm_r0),
               .general_step = 4},
    .general_count = 15,
    .general = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
};
