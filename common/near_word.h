/* SPDX-License-Identifier: Apache-2.0 */
/* Which of some words somebody has meant who typed another one.  Pure. */
#ifndef COMMON_NEAR_WORD_H
#define COMMON_NEAR_WORD_H

#include <stdbool.h>

enum { NEAR_WORD_BYTES = 64 }; /* of a word that are compared */

struct near_word {
  const char *word;    /* what was typed */
  const char *nearest; /* of what was offered, borrowed; NULL: nothing yet */
  unsigned edits;      /* from one to the other */
};

/* Looks at CANDIDATE.  Returns whether it is the nearest so far; of several the first stays. */
bool near_word_offer(struct near_word *near, const char *candidate);

/* Returns the nearest word that was offered; NULL when it is so far away that nobody can have meant
   it. */
const char *near_word_found(const struct near_word *near);

#endif
