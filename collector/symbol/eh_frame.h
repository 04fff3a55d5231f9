/* SPDX-License-Identifier: Apache-2.0 */
/* Where functions begin and end, as the tables for exceptions tell it even of stripped files. */
#ifndef SYMBOL_EH_FRAME_H
#define SYMBOL_EH_FRAME_H

#include "common/span.h"

/* A walk over one .eh_frame section; the rest all zero at its start. */
struct eh_frame {
  struct span bytes; /* borrowed */
  uint64_t address;  /* where the section is, in the file's own address space */
  unsigned word_bytes;
  bool is_big_endian;
  size_t at;        /* of the next entry */
  size_t cie_at;    /* one more than where the CIE is that encoding is of; 0: none yet */
  uint8_t encoding; /* of its entries' pointers */
};

struct eh_frame_range {
  uint64_t start, size; /* size > 0, and the end does not wrap */
};

/* Finds the next function.  Returns false at the end, which is also where the section stops making
   sense; entries of kinds that no linked file has are passed over.  Pure. */
bool eh_frame_next(struct eh_frame *frames, struct eh_frame_range *ret);

#endif
