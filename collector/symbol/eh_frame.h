/* SPDX-License-Identifier: Apache-2.0 */
/* Function bounds from the tables for exceptions. Stripped files have them too. */
#ifndef SYMBOL_EH_FRAME_H
#define SYMBOL_EH_FRAME_H

#include "common/span.h"

/* A walk over one .eh_frame section. Set the first four fields; the rest is zero at the start. */
struct eh_frame {
  struct span bytes; /* borrowed */
  uint64_t address;  /* of the section in the file's address space */
  unsigned word_bytes;
  bool is_big_endian;
  size_t at;        /* of the next entry */
  size_t cie_at;    /* offset of the CIE of `encoding`, plus one; 0: none yet */
  uint8_t encoding; /* of pointers in FDEs of this CIE */
};

struct eh_frame_range {
  uint64_t start, size; /* size > 0, and the end does not wrap */
};

/* Finds the next function. Returns false at the end of the section or at the first malformed entry.
   Entries with unsupported encodings are skipped. Pure. */
bool eh_frame_next(struct eh_frame *frames, struct eh_frame_range *ret);

#endif
