/* SPDX-License-Identifier: Apache-2.0 */
/* CPU-specific facts for a walk. One file for each CPU, chosen by CMake. */
#ifndef UNWIND_UNWIND_ARCH_H
#define UNWIND_UNWIND_ARCH_H

#include "unwind_table.h"

#include <stdbool.h>

/* Offsets in bytes of the registers that the kernel saved, from the stack pointer at the return
   from a handler. */
struct unwind_signal_frame {
  uint16_t pc, sp, lr;
  uint16_t tracked[UNWIND_TRACKED];
  uint16_t general;     /* the general registers: an array of words */
  uint8_t general_step; /* bytes from one word to the next */
};

struct unwind_arch {
  uint16_t machine;                /* e_machine */
  uint8_t pc, sp, lr;              /* DWARF register numbers; pc: of the return address column */
  uint8_t tracked[UNWIND_TRACKED]; /* the frame pointer first */
  bool has_lr;
  bool has_frame_pairs; /* compilers build frames of (caller's frame pointer, return address) */
  int16_t pair_offset;  /* from the frame pointer to that pair */
  bool is_pair_at_top;  /* the caller's stack pointer is directly above the pair */
  uint8_t red_zone;     /* bytes below the stack pointer that a signal preserves */
  uint8_t call_bytes;   /* size of the shortest call */
  uint64_t return_mask; /* address bits of a return address, without signature and mode bit */
  struct unwind_signal_frame signal;
  uint8_t general_count;
  uint8_t general[UNWIND_GENERAL]; /* by DWARF number: the index in that array */
};

/* Hidden, so that it is accessed without the loader's tables. */
__attribute__((visibility("hidden"))) extern const struct unwind_arch unwind_arch;

#endif
