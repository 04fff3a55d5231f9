/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests the word that a user probably meant by a mistyped one. Pure. */
#ifndef COMMON_NEAR_WORD_H
#define COMMON_NEAR_WORD_H

#include <stdbool.h>

enum { NEAR_WORD_BYTES = 64 }; /* compared part of a word */

struct near_word {
  const char *word;    /* what was typed */
  const char *nearest; /* the best candidate, borrowed; NULL: none yet */
  unsigned edits;      /* between them */
};

/* Considers CANDIDATE. Returns true if it is the nearest so far; in a tie the first one stays. */
bool near_word_offer(struct near_word *near, const char *candidate);

/* Returns the nearest candidate; NULL if it is too different. */
const char *near_word_found(const struct near_word *near);

#endif
