/* SPDX-License-Identifier: Apache-2.0 */
/* An edit is a missing, extra, wrong or transposed letter. One edit in three letters is accepted as
   a typo; more make another word. */
#include "near_word.h"

#include <stddef.h>
#include <string.h>

enum { LETTERS_OF_A_SLIP = 3 };

static unsigned smaller(unsigned a, unsigned b) {
  return a < b ? a : b;
}

/* The edit distance from A to B, limited to their first NEAR_WORD_BYTES. It keeps three rows of the
   usual table, for transposed letters. */
static unsigned distance(const char *a, const char *b) {
  unsigned rows[3][NEAR_WORD_BYTES + 1];
  size_t a_len = strnlen(a, NEAR_WORD_BYTES), b_len = strnlen(b, NEAR_WORD_BYTES);
  for (unsigned j = 0; j <= b_len; j++) rows[0][j] = j;
  for (unsigned i = 1; i <= a_len; i++) {
    unsigned *row = rows[i % 3];
    const unsigned *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (unsigned j = 1; j <= b_len; j++) {
      row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
      bool is_turned = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_turned) row[j] = smaller(row[j], before[j - 2] + 1);
    }
  }
  return rows[a_len % 3][b_len];
}

bool near_word_offer(struct near_word *near, const char *candidate) {
  unsigned edits = distance(near->word, candidate);
  if (near->nearest != NULL && edits >= near->edits) return false;
  near->nearest = candidate;
  near->edits = edits;
  return true;
}

const char *near_word_found(const struct near_word *near) {
  size_t slips = strnlen(near->word, NEAR_WORD_BYTES) / LETTERS_OF_A_SLIP;
  return near->nearest != NULL && near->edits <= (slips > 1 ? slips : 1) ? near->nearest : NULL;
}
