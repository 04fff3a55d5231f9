/* SPDX-License-Identifier: Apache-2.0 */
/* Which services the collector has ever had samples of: what a selection that is empty may have
   meant. */
#ifndef CLI_SAMPLED_SERVICES_H
#define CLI_SAMPLED_SERVICES_H

struct api;
struct buf;
struct cJSON;

/* Asks which services have ever had samples of the selection WORD (NULL: whatever).  Returns their
   names, an array that is the caller's to free by cJSON_Delete; NULL when the collector does not
   say. */
struct cJSON *sampled_services_ask(const struct api *api, const char *word);

/* Appends to RET which of SERVICES the selection WORD may have meant: the one whose name is the
   nearest, or else which there are. */
void sampled_services_suggest(const struct cJSON *services, const char *word, struct buf *ret);

#endif
