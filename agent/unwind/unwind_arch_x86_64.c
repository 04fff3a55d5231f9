/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: besides %rbp a walk tracks %rbx, the base of the frame in the loader's lazy binding. At
   the return from a handler the stack pointer is at the kernel's struct ucontext. Its general
   registers begin at byte 40 in the order of <sys/ucontext.h>. */
#include "unwind_arch.h"

#include <elf.h>
#include <stddef.h>
#include <ucontext.h>

#define SAVED(reg) offsetof(ucontext_t, uc_mcontext.gregs[reg])

const struct unwind_arch unwind_arch = {
    .machine = EM_X86_64,
    .pc = 16,
    .sp = 7,
    .lr = 16,
    .tracked = {6, 3},
    .has_lr = false,
    .has_frame_pairs = true,
    .pair_offset = 0,
    .is_pair_at_top = true,
    .red_zone = 128,
    .call_bytes = 2,
    .return_mask = UINT64_MAX,
    .signal = {.pc = SAVED(REG_RIP),
               .sp = SAVED(REG_RSP),
               .lr = 0,
               .tracked = {SAVED(REG_RBP), SAVED(REG_RBX)},
               .general = SAVED(0),
               .general_step = 8},
    .general_count = 16,
    .general = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15},
};
