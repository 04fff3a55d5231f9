/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables of a symbol index that are about return addresses: at which places of the code the
   link register holds the function's, and which addresses follow a call.

   Both are a head, page_count + 1 times the first entry of a page, and entries by address,
   8-aligned as a whole.  Of code that lies far apart there is one such table behind the other.  A
   page is 4 KiB of the module's address space, so that an entry has room
   for its address in 12 bits.

     places   uint16_t: address | enum lr_place << 12; it holds up to the next entry, and is said
              again at the start of a page that it reaches into, unless it is LR_UNKNOWN
     calls    uint32_t: address | target << 12, the address being the return address - 1, which is
              what boards ship; target 0: unknown or in another module, else lr_target()

   On a CPU without the register the word at the stack pointer is meant. */
#ifndef SYMBOL_LR_FORMAT_H
#define SYMBOL_LR_FORMAT_H

#include <assert.h>
#include <stdint.h>

/* Of enum index_kind. */
enum { INDEX_LR_PLACES = 32, INDEX_LR_CALLS = 33 };

enum {
  LR_PAGE_BITS = 12,
  LR_PAGE_BYTES = 1 << LR_PAGE_BITS,
  LR_PAGES_MAX = 1 << 18,   /* 1 GiB of code */
  LR_RANGES_MAX = 16,       /* tables of one kind */
  LR_ENTRIES_MAX = 8 << 20, /* what is beyond is unknown */
  LR_TARGETS = (1 << 20) - 1,
};

enum lr_place {
  LR_UNKNOWN = 0,
  LR_HELD_BY_ROW,  /* call frame information says so */
  LR_HELD_BY_SCAN, /* the instructions do */
  LR_LOST,         /* it need not be there: a call may have been before, or it is elsewhere */
  LR_TANGLED,      /* so, and the ways through its function are too many or unknown to tell more */
  LR_PLACES,
};

struct lr_head {
  uint64_t base; /* of the first page */
  uint32_t page_count, entry_count;
  uint32_t machine; /* e_machine */
  uint32_t reserved;
};

_Static_assert(sizeof(struct lr_head) == 24, "on disk");
_Static_assert(LR_PLACES <= 1 << 4, "a place has four bits");

/* What a call entry says of a target in the same module: a number of 20 bits, which another
   function has by chance only. */
static inline uint32_t lr_target(uint64_t address) {
  return 1 + (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % LR_TARGETS;
}

#endif
