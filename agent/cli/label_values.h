/* SPDX-License-Identifier: Apache-2.0 */
/* Which labels the collector's samples have ever had, and which values: what a selection that is
   empty may have meant. */
#ifndef CLI_LABEL_VALUES_H
#define CLI_LABEL_VALUES_H

#include <stdbool.h>

struct api;
struct buf;
struct cJSON;

/* Asks which values of LABEL samples of the selection WORD (NULL: whatever) have ever had; without
   a LABEL (NULL) for the names of labels.  Returns an array that is the caller's to free by
   cJSON_Delete; NULL when the collector does not say. */
struct cJSON *label_values_ask(const struct api *api, const char *label, const char *word);

/* Appends to RET what the selection WORD, which never had samples, may have meant: of the first
   label that there is not the nearest one, else of the first value that there is not the nearest
   ones.  Returns false when there are no samples of anything. */
bool label_values_suggest(const struct api *api, const char *word, struct buf *ret);

#endif
