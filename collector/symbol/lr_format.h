/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables of a symbol index about return addresses: the places of the code where the link
   register holds the function's return address, and the addresses that follow a call.

   Both have a head, page_count + 1 first entries of pages, and entries by address, 8-aligned as a
   whole. Code ranges that are far apart have consecutive tables. A page is 4 KiB of the module's
   address space, so that an address in it takes 12 bits of an entry.

     places   uint16_t: address | enum lr_place << 12; valid up to the next entry, and repeated
              at the start of each page that it reaches into, unless it is LR_UNKNOWN
     calls    uint32_t: address | target << 12; the address is the return address - 1, as
              boards send it; target 0: unknown or in another module, else lr_target()

   On a CPU without the register, the word at the stack pointer is meant. */
#ifndef SYMBOL_LR_FORMAT_H
#define SYMBOL_LR_FORMAT_H

#include <assert.h>
#include <stdint.h>

/* Values of enum index_kind. */
enum { INDEX_LR_PLACES = 32, INDEX_LR_CALLS = 33 };

enum {
  LR_PAGE_BITS = 12,
  LR_PAGE_BYTES = 1 << LR_PAGE_BITS,
  LR_PAGES_MAX = 1 << 18,   /* 1 GiB of code */
  LR_RANGES_MAX = 16,       /* tables of one kind */
  LR_ENTRIES_MAX = 8 << 20, /* further entries are dropped: unknown */
  LR_TARGETS = (1 << 20) - 1,
};

enum lr_place {
  LR_UNKNOWN = 0,
  LR_HELD_BY_ROW,  /* from call frame information */
  LR_HELD_BY_SCAN, /* from the instructions */
  LR_LOST,         /* it may be elsewhere, for example after a call */
  LR_TANGLED,      /* as LR_LOST, and the function's control flow was too complex to analyse */
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

/* Returns the target field of a call entry for a target in the same module: a hash of 20 bits,
   equal for another function only by chance. */
static inline uint32_t lr_target(uint64_t address) {
  return 1 + (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % LR_TARGETS;
}

#endif
