/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a selection is empty: a single one, or a side of a difference. */
#ifndef CLI_EMPTY_SIDE_H
#define CLI_EMPTY_SIDE_H

#include <stdbool.h>

struct api;
struct cJSON;

struct empty_side {
  const char *name;          /* "a" or "b", also the prefix of its options */
  const char *word;          /* the selector, as typed */
  const struct cJSON *range; /* its part of the answer: from, to */
};

/* Reports on stderr that SIDE has no samples, and how to correct it: the time range, if the
   selector has samples at other times; else the unknown label or value, and the nearest known. */
void empty_side_tell(const struct api *api, const struct empty_side *side);

/* If the selection WORD, which has no samples now, never had any, reports that on stderr as
   empty_side_tell does.  Returns whether that is so. */
bool empty_side_never_was(const struct api *api, const char *word);

#endif
