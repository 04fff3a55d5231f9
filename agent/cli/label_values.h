/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and values of the collector's samples at all times: suggestions for an empty selection. */
#ifndef CLI_LABEL_VALUES_H
#define CLI_LABEL_VALUES_H

#include <stdbool.h>

struct api;
struct buf;
struct cJSON;

/* Requests all values that LABEL ever had in samples of the selection WORD (NULL: all samples).  If
   LABEL is NULL, requests the names of labels.  Returns an array, which the caller frees by
   cJSON_Delete; NULL if the request fails. */
struct cJSON *label_values_ask(const struct api *api, const char *label, const char *word);

/* Appends suggestions for the selection WORD, which never had samples.  For the first unknown
   label: the nearest label.  Otherwise for the first unknown value: the nearest values.  Returns
   false if there are no samples at all. */
bool label_values_suggest(const struct api *api, const char *word, struct buf *ret);

#endif
