/* SPDX-License-Identifier: Apache-2.0 */
/* Why a selection is empty: one that stands alone, or a side of a difference. */
#ifndef CLI_EMPTY_SIDE_H
#define CLI_EMPTY_SIDE_H

#include <stdbool.h>

struct api;
struct cJSON;

struct empty_side {
  const char *name;          /* "a" or "b": of the options, too */
  const char *word;          /* the selector, as it was typed */
  const struct cJSON *range; /* of the answer about it: from, to */
};

/* Says on stderr that SIDE has no samples, and what of it is to be changed: when the selector had
   some, or else which of its labels or values is not there, and which is the nearest. */
void empty_side_tell(const struct api *api, const struct empty_side *side);

/* Returns whether the selection WORD, which has no samples now, never had any; then it says so on
   stderr, as empty_side_tell does. */
bool empty_side_never_was(const struct api *api, const char *word);

#endif
