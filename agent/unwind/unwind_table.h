/* SPDX-License-Identifier: Apache-2.0 */
/* THE FORMAT of a module's unwind table, and the look-up. For each instruction of the
   module it describes how to find the caller's registers. The daemon makes a table once for each
   build ID (agent/tables) and keeps it on disk. The daemon reads it, and so does the handler in a
   target, in a read-only mapping.

     header | page_count + 1 times the first row of a page | rows | padding to 4 | rules | gaps

   A page is 4 KiB of the module's own address space, so the address fits into a row of 4 bytes. A
   row applies from its address up to the next row's. A row that reaches into a page is repeated at
   the page's first byte, so a look-up never leaves its page. Before a page's first row nothing is
   known. There are few rules, and they are named by number. A page's rows fill three or four cache
   lines, which is the cost of a look-up with a cold cache.

   Byte order and sizes are the machine's own: a table is made on the board that uses it. */
#ifndef UNWIND_UNWIND_TABLE_H
#define UNWIND_UNWIND_TABLE_H

#include "unwind_gap.h"

enum {
  UNWIND_TABLE_MAGIC = 0x574e5546, /* "FUNW" */
  UNWIND_TABLE_VERSION = 3,
  UNWIND_PAGE_BITS = 12,
  UNWIND_PAGE_BYTES = 1 << UNWIND_PAGE_BITS,
  UNWIND_PAGES_MAX = 1 << 20, /* 4 GiB of code */
  UNWIND_RULES_MAX = 1 << 16,
  UNWIND_ROWS_MAX = 1 << 24,
  UNWIND_TRACKED = 2,      /* registers besides pc, sp and lr that a walk follows (unwind_arch.h) */
  UNWIND_GENERAL = 32,     /* maximum number of general registers of an interrupted frame */
  UNWIND_SAME = INT16_MIN, /* instead of an offset: the register still has the caller's value */
  UNWIND_IN_GENERAL = UNWIND_SAME + 1, /* + N: the value is in general register N */
  UNWIND_OFFSET_MIN = UNWIND_IN_GENERAL + UNWIND_GENERAL,
};

/* The location of the canonical frame address (CFA), the caller's stack pointer. */
enum unwind_cfa {
  UNWIND_CFA_NONE = 0, /* no information on this address */
  UNWIND_CFA_UNTOLD,   /* there is information, but no rule can express it */
  UNWIND_CFA_END,      /* outermost frame: a program or a thread begins here */
  UNWIND_CFA_SIGNAL,   /* return from a signal handler: the kernel's frame is at sp + offset */
  UNWIND_CFA_SP,       /* stack pointer + offset */
  UNWIND_CFA_TRACKED,  /* first tracked register + offset */
  UNWIND_CFA_TRACKED_2,
  UNWIND_CFA_SP_WORD, /* the word at stack pointer + offset, + addend */
  UNWIND_CFA_TRACKED_WORD,
  UNWIND_CFA_PLT, /* x86-64: stack pointer + offset, plus 8 from byte ADDEND of 16 on */
  UNWIND_CFA_TRACKED_2_WORD,
  UNWIND_CFA_GENERAL, /* general register REG + offset */
  UNWIND_CFA_GENERAL_WORD,
  UNWIND_CFA_COUNT,
};

enum unwind_rule_flags {
  UNWIND_AT_TRACKED = 1, /* saved[] is relative to the first tracked register, not to the CFA */
  UNWIND_AT_BASE = 2,  /* everything counts from the CFA's base register: a large frame's bottom */
  UNWIND_GUESSED = 4,  /* derived from instructions, not from unwind information */
  UNWIND_REG_KEPT = 8, /* no callee of this address writes REG */
};

struct unwind_rule {
  int32_t offset;
  int16_t addend;
  int16_t return_address;        /* CFA + this, in bytes; UNWIND_SAME: in the link register */
  int16_t saved[UNWIND_TRACKED]; /* CFA + this, or UNWIND_SAME */
  uint8_t cfa;                   /* enum unwind_cfa */
  uint8_t flags;
  uint8_t reg; /* of UNWIND_CFA_GENERAL and _WORD: its index in struct unwind_signal_frame */
  uint8_t reserved;
};

struct unwind_row {
  uint16_t low; /* low bits of the address, within its page */
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
  uint32_t untold_rows;       /* rows with a rule UNWIND_CFA_UNTOLD that is not a guess */
  uint32_t sources;           /* bits of enum unwind_source */
  uint32_t functions_refused; /* malformed functions, which were omitted */
  uint32_t functions_left;    /* described twice: omitted in favor of an overlapping one */
  uint32_t gap_count;         /* sorted by page */
  uint32_t reserved[2];
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

/* Returns 0 if the BYTES bytes at TABLE are a whole table for MACHINE; -EPROTO for another version
   or machine, -EBADMSG if it is malformed. Checks only the header. */
int unwind_table_check(const struct unwind_table *table, uint64_t bytes, uint16_t machine);

/* The rule at ADDRESS, of the table; NULL if the table has none. HEAD is the checked header of
   TABLE, in the caller's own memory if others may change the table meanwhile. No load leaves HEAD's
   total_bytes, for any contents of TABLE.  Signal-safe. */
const struct unwind_rule *unwind_table_look(const struct unwind_table *head, const void *table,
                                            uint64_t address);

/* The same in a table that does not change. */
static inline const struct unwind_rule *unwind_table_find(const struct unwind_table *table,
                                                          uint64_t address) {
  return unwind_table_look(table, table, address);
}

#endif
