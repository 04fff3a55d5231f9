/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors as people type them. */
#ifndef CLI_SELECTOR_WORD_H
#define CLI_SELECTOR_WORD_H

#include <stdbool.h>

struct buf;

/* Appends the selector that WORD means to RET: WORD itself where it begins with a brace;
   {name="v",...} of name=v,...; {service="WORD"} of a word alone.  Pure. */
void selector_word_print(const char *word, struct buf *ret);

/* One condition of a selector; what is longer is cut. */
struct selector_matcher {
  char name[64], value[100];
  bool is_equal; /* not !=, =~ or !~ */
};

/* Takes the next condition off *AT, which is what selector_word_print has printed.  Returns false
   at the end, and where it is malformed.  Pure. */
bool selector_word_next(const char **at, struct selector_matcher *ret);

#endif
