/* SPDX-License-Identifier: Apache-2.0 */
/* The stubs of a procedure linkage table: which slot of the global offset table each jumps through.
 */
#ifndef SYMBOL_PLT_STUBS_H
#define SYMBOL_PLT_STUBS_H

#include "common/span.h"

struct plt_code {
  struct span bytes; /* of the table; what is left of it */
  uint64_t address;  /* of its first byte */
  uint64_t got;      /* i386: what %ebx holds, the address of .got.plt */
  unsigned machine;  /* e_machine */
};

struct plt_stub {
  uint64_t start, size;
  uint64_t slot; /* address of what it jumps through */
};

/* Finds the next stub in CODE and takes it off.  Returns false when there is none any more, or the
   machine's stubs are not known.  Little-endian instructions only.  Pure. */
bool plt_stubs_next(struct plt_code *code, struct plt_stub *ret);

#endif
