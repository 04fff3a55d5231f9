/* SPDX-License-Identifier: Apache-2.0 */
/* Parses selectors as typed. */
#ifndef CLI_SELECTOR_WORD_H
#define CLI_SELECTOR_WORD_H

#include <stdbool.h>

struct buf;

/* Appends the full selector for WORD to RET.  A WORD that begins with a brace is copied; name=v,...
   becomes {name="v",...}; a single word becomes {service="WORD"}.  Pure. */
void selector_word_print(const char *word, struct buf *ret);

/* One condition of a selector; longer texts are cut. */
struct selector_matcher {
  char name[64], value[100];
  bool is_equal; /* not !=, =~ or !~ */
};

/* Takes the next condition from *AT, in the format of selector_word_print.  Returns false at the
   end, or if it is malformed.  Pure. */
bool selector_word_next(const char **at, struct selector_matcher *ret);

#endif
