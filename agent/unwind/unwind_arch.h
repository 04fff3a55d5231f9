/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk must know of a CPU; one file a CPU, chosen by CMake. */
#ifndef UNWIND_UNWIND_ARCH_H
#define UNWIND_UNWIND_ARCH_H

#include "unwind_table.h"

#include <stdbool.h>

/* Where the kernel saved registers, in bytes from the stack pointer at the return from a handler.
 */
struct unwind_signal_frame {
  uint16_t pc, sp, lr;
  uint16_t tracked[UNWIND_TRACKED];
  uint16_t general;     /* the general registers: a row of words */
  uint8_t general_step; /* bytes from one to the next */
};

struct unwind_arch {
  uint16_t machine;                /* e_machine */
  uint8_t pc, sp, lr;              /* numbers in DWARF; pc: of the return address column */
  uint8_t tracked[UNWIND_TRACKED]; /* the frame pointer first */
  bool has_lr;
  bool has_frame_pairs; /* compilers make frames of (caller's frame pointer, return address) */
  int16_t pair_offset;  /* from the frame pointer to that pair */
  bool is_pair_at_top;  /* right above it is the caller's stack pointer */
  uint8_t red_zone;     /* bytes below the stack pointer that a signal leaves as they are */
  uint8_t call_bytes;   /* of the shortest call */
  uint64_t return_mask; /* what of a return address is address: no signature, no mode bit */
  struct unwind_signal_frame signal;
  uint8_t general_count;
  uint8_t general[UNWIND_GENERAL]; /* by number in DWARF: the place in that row */
};

/* Hidden, so that it is reached without a table of the loader. */
__attribute__((visibility("hidden"))) extern const struct unwind_arch unwind_arch;

#endif
