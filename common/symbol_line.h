/* SPDX-License-Identifier: Apache-2.0 */
/* A list of symbols as text: nm, nm -S, System.map, /proc/kallsyms.  One symbol a line,

     ADDRESS [SIZE] TYPE NAME [ [MODULE] ] */
#ifndef COMMON_SYMBOL_LINE_H
#define COMMON_SYMBOL_LINE_H

#include "span.h"

struct symbol_line {
  uint64_t address, size; /* size 0: not in the line */
  char type;              /* nm's letter */
  struct span name;       /* borrows the text */
  struct span module;     /* a kernel's loadable module, else empty */
};

/* Reads the next line of TEXT and advances past it. The last line needs no newline, and a carriage
   return before a newline is ignored. Returns 0, -ENOENT at the end of TEXT, or -EBADMSG for a line
   that is no symbol with an address. Pure. */
int symbol_line_next(struct span *text, struct symbol_line *ret);

/* How well LINE names its address: 0, not at all (not in the program: an absolute value, a debug
   entry, an assembler's mark); 1, as data, which bounds the function before it; 2, 3, 4, as a
   local, weak, global function. */
unsigned symbol_line_rank(const struct symbol_line *line);

/* Negative if A is the better name of two for one address, positive if B is: by rank, then fewer
   leading underscores, the shorter, the alphabetically first. */
int symbol_line_compare(const struct symbol_line *a, const struct symbol_line *b);

/* True for the letters of code: T t W w (and i, a function selected at run time). */
bool symbol_line_is_code(const struct symbol_line *line);

#endif
