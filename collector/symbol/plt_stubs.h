/* SPDX-License-Identifier: Apache-2.0 */
/* The stubs of a procedure linkage table, with the slot of the global offset table of each. */
#ifndef SYMBOL_PLT_STUBS_H
#define SYMBOL_PLT_STUBS_H

#include "common/span.h"

struct plt_code {
  struct span bytes; /* the unread rest of the table */
  uint64_t address;  /* of its first byte */
  uint64_t got;      /* i386: value of %ebx, the address of .got.plt */
  unsigned machine;  /* e_machine */
};

struct plt_stub {
  uint64_t start, size;
  uint64_t slot; /* address of the slot of its jump */
};

/* Finds the next stub in CODE and advances CODE past it. Returns false at the end, or if the
   machine is unsupported. Little-endian instructions only. Pure. */
bool plt_stubs_next(struct plt_code *code, struct plt_stub *ret);

#endif
