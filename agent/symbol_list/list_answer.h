/* SPDX-License-Identifier: Apache-2.0 */
/* addr2line's protocol: an address a line in, one answer of a fixed number of lines out. */
#ifndef SYMBOL_LIST_LIST_ANSWER_H
#define SYMBOL_LIST_LIST_ANSWER_H

#include "common/span.h"

struct buf;
struct list_file;

struct list_form {
  uint64_t base;      /* of the list, where the address 0 of the questions lies */
  bool has_addresses; /* -a: the address, on a line of its own, before each answer */
  bool has_functions; /* -f: the function and, on a second line, what it is part of: "e1000:0" */
};                    /* without -f: function+0xoffset */

/* Answers one LINE of questions, without its newline: hexadecimal, with or without 0x, blanks and a
   carriage return around it.  What is no address, or of no symbol, gets "??".  Appends to RET. */
void list_answer(const struct list_file *file, const struct list_form *form, struct span line,
                 struct buf *ret);

/* Reads a hexadecimal number.  Returns false, touching nothing, when TEXT is none of 64 bits. */
bool list_answer_parse_address(struct span text, uint64_t *ret);

#endif
