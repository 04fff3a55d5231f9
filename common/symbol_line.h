/* SPDX-License-Identifier: Apache-2.0 */
/* A list of symbols as text: nm, nm -S, System.map, /proc/kallsyms.  One symbol a line,

     ADDRESS [SIZE] TYPE NAME [ [MODULE] ] */
#ifndef COMMON_SYMBOL_LINE_H
#define COMMON_SYMBOL_LINE_H

#include "span.h"

struct symbol_line {
  uint64_t address, size; /* size 0: the line says none */
  char type;              /* nm's letter */
  struct span name;       /* borrows the text */
  struct span module;     /* of a kernel's loadable module, else empty */
};

/* Reads the next line of TEXT and advances past it; a last line needs no newline, and a carriage
   return before it is no part of the line.  Returns 0, -ENOENT at the end of TEXT, or -EBADMSG for
   a line that is no symbol with an address.  Pure. */
int symbol_line_next(struct span *text, struct symbol_line *ret);

/* True for the letters of code: T t W w (and i, a function that is chosen at run time). */
bool symbol_line_is_code(const struct symbol_line *line);

#endif
