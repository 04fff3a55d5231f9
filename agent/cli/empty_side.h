/* SPDX-License-Identifier: Apache-2.0 */
/* Why a side of a difference is empty. */
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
   some, or else which services there are. */
void empty_side_tell(const struct api *api, const struct empty_side *side);

#endif
