/* SPDX-License-Identifier: Apache-2.0 */
/* addr2line's protocol: one address per input line, and one answer of a fixed number of lines
   each. */
#ifndef SYMBOL_LIST_LIST_ANSWER_H
#define SYMBOL_LIST_LIST_ANSWER_H

#include "common/span.h"

struct buf;
struct list_file;

struct list_form {
  uint64_t base;      /* the list's address for address 0 of the input */
  bool has_addresses; /* -a: the address, on a line of its own, before each answer */
  bool has_functions; /* -f: the function, and its module on a second line: "e1000:0" */
};                    /* without -f: function+0xoffset */

/* Answers one input LINE, without its newline: a hexadecimal number, with or without 0x, with
   optional blanks and a carriage return around it.  A line that is no address, or has no symbol,
   gets "??".  Appends to RET. */
void list_answer(const struct list_file *file, const struct list_form *form, struct span line,
                 struct buf *ret);

/* Reads a hexadecimal number.  Returns false, without changing RET, if TEXT is not a number of 64
   bits. */
bool list_answer_parse_address(struct span text, uint64_t *ret);

#endif
