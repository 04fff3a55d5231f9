/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors as people type them. */
#ifndef CLI_SELECTOR_WORD_H
#define CLI_SELECTOR_WORD_H

struct buf;

/* Appends the selector that WORD means to RET: WORD itself where it begins with a brace;
   {name="v",...} of name=v,...; {service="WORD"} of a word alone.  Pure. */
void selector_word_print(const char *word, struct buf *ret);

#endif
