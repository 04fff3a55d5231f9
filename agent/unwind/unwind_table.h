/* SPDX-License-Identifier: Apache-2.0 */
/* THE FORMAT of a module's unwind table, and the look into one: for each instruction of the module,
   how to find the caller's registers.  Made once a build-id by the daemon (agent/tables), kept on
   disk, read by the daemon and, in a read-only mapping, by the handler in a target.

     header | page_count + 1 times the first row of a page | rows | padding to 4 | rules

   A page is 4 KiB of the module's own address space, so a row, 4 bytes, has room for its address.
   A row holds from its address up to the next row's.  What reaches into a page is said again at its
   first byte, so a look never leaves its page: before a page's first row nothing is known.  Rules,
   of which there are few, are named by number.  A page's rows fill three or four lines of a cache,
   which is what a look costs when nothing of the table is in one.

   Byte order and sizes are the machine's own: a table is made on the board that uses it. */
#ifndef UNWIND_UNWIND_TABLE_H
#define UNWIND_UNWIND_TABLE_H

#include <stdint.h>

enum {
  UNWIND_TABLE_MAGIC = 0x574e5546, /* "FUNW" */
  UNWIND_TABLE_VERSION = 3,
  UNWIND_PAGE_BITS = 12,
  UNWIND_PAGE_BYTES = 1 << UNWIND_PAGE_BITS,
  UNWIND_PAGES_MAX = 1 << 20, /* 4 GiB of code */
  UNWIND_RULES_MAX = 1 << 16,
  UNWIND_ROWS_MAX = 1 << 24,
  UNWIND_TRACKED = 2, /* registers other than pc, sp and lr that a walk follows (unwind_arch.h) */
};

/* Where the canonical frame address, the caller's stack pointer, is. */
enum unwind_cfa {
  UNWIND_CFA_NONE = 0, /* nothing is known of this place */
  UNWIND_CFA_UNTOLD,   /* it is known, but no rule can hold it */
  UNWIND_CFA_END,      /* nobody called: a program or a thread begins here */
  UNWIND_CFA_SIGNAL,  /* the return from a signal's handler: the kernel's frame is at sp + offset */
  UNWIND_CFA_SP,      /* stack pointer + offset */
  UNWIND_CFA_TRACKED, /* first tracked register + offset */
  UNWIND_CFA_TRACKED_2,
  UNWIND_CFA_SP_WORD, /* the word at stack pointer + offset, + addend */
  UNWIND_CFA_TRACKED_WORD,
  UNWIND_CFA_PLT, /* x86-64: stack pointer + offset, 8 more from byte ADDEND of 16 on */
  UNWIND_CFA_COUNT,
};

enum { UNWIND_SAME = INT16_MIN }; /* the register still has the caller's value */

enum unwind_rule_flags {
  UNWIND_AT_TRACKED = 1, /* saved[] counts from the first tracked register, not from the CFA */
  UNWIND_AT_BASE = 2,    /* all of it from where the CFA is counted from: a large frame's bottom */
  UNWIND_GUESSED = 4,    /* made from instructions, not from unwind information */
};

struct unwind_rule {
  int32_t offset;
  int16_t addend;
  int16_t return_address;        /* CFA + this, in bytes; UNWIND_SAME: in the link register */
  int16_t saved[UNWIND_TRACKED]; /* CFA + this, or UNWIND_SAME */
  uint8_t cfa;                   /* enum unwind_cfa */
  uint8_t flags;
  uint16_t reserved;
};

struct unwind_row {
  uint16_t low; /* of the address, in its page */
  uint16_t rule;
};

struct unwind_table {
  uint32_t magic;
  uint16_t version;
  uint16_t machine;    /* e_machine */
  uint64_t base;       /* address of the first page, a multiple of UNWIND_PAGE_BYTES */
  uint32_t page_count; /* at least 1 */
  uint32_t row_count, rule_count;
  uint32_t rules_at;          /* bytes from the start */
  uint32_t total_bytes;       /* with this header */
  uint32_t untold_rows;       /* rows whose rule is UNWIND_CFA_UNTOLD */
  uint32_t sources;           /* enum unwind_source, or'ed */
  uint32_t functions_refused; /* malformed, and so not in it */
  uint32_t functions_left;    /* told of twice: not in it, but another one that overlaps */
  uint32_t reserved[3];
};

enum unwind_source {
  UNWIND_EH_FRAME = 1,
  UNWIND_DEBUG_FRAME = 2,
  UNWIND_ARM_EXIDX = 4,
  UNWIND_PROLOGUES = 8,
};

_Static_assert(sizeof(struct unwind_rule) == 16, "a format");
_Static_assert(sizeof(struct unwind_row) == 4, "a format");
_Static_assert(sizeof(struct unwind_table) == 64, "a format");

/* Returns 0 when BYTES bytes at TABLE are a whole table for MACHINE; -EPROTO of another version or
   machine, -EBADMSG when it is malformed.  Looks at the header alone. */
int unwind_table_check(const struct unwind_table *table, uint64_t bytes, uint16_t machine);

/* The rule at ADDRESS, of the module's own address space; NULL where the table has none.  HEAD is
   the header of TABLE, checked, and the caller's own where others may change the table meanwhile:
   whatever is written there, no load leaves HEAD's total_bytes.  Signal-safe. */
const struct unwind_rule *unwind_table_look(const struct unwind_table *head, const void *table,
                                            uint64_t address);

/* The same in a table that nobody changes. */
static inline const struct unwind_rule *unwind_table_find(const struct unwind_table *table,
                                                          uint64_t address) {
  return unwind_table_look(table, table, address);
}

#endif
