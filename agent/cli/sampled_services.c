/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's labels of all times are asked (series, no samples, so that it costs little): a
   selection that no series has ever matched is a typing mistake. */
#include "sampled_services.h"

#include "answer_text.h"
#include "api_client.h"
#include "common/buf.h"
#include "common/near_word.h"
#include "fetch/url.h"
#include "selector_word.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

enum { SERVICES_SHOWN = 8, SERVICES_ASKED = 10000, NAME_BYTES = 100 };

cJSON *sampled_services_ask(const struct api *api, const char *word) {
  struct buf target = {0}, selector = {0};
  struct fetch_answer answer;
  cJSON *json = NULL;
  char limit[16];
  snprintf(limit, sizeof limit, "%d", SERVICES_ASKED);
  buf_append_string(&target, "/api/v1/labels/service");
  if (word != NULL) selector_word_print(word, &selector);
  if (word != NULL) url_add_parameter(&target, "match", buf_text(&selector));
  url_add_parameter(&target, "from", "0");
  url_add_parameter(&target, "limit", limit);
  const struct fetch_call call = {.method = "GET", .target = buf_text(&target)};
  if (api_try(api, &call, &answer) == 0) {
    if (answer.status == 200) json = answer_text_parse(answer.body.data, answer.body.len);
    fetch_answer_fini(&answer);
  }
  buf_fini(&selector);
  buf_fini(&target);
  cJSON *services = cJSON_DetachItemFromObjectCaseSensitive(json, "data");
  cJSON_Delete(json);
  return services;
}

/* Copies the service that the selection WORD asks for, "" when it does so in no plain way. */
static void find_wanted(const char *word, char ret[NAME_BYTES]) {
  static const char label[] = "service=\"";
  struct buf selector = {0};
  ret[0] = '\0';
  selector_word_print(word, &selector);
  const char *text = buf_text(&selector), *at = text != NULL ? strstr(text, label) : NULL;
  if (at != NULL && at > text && strchr("{, ", at[-1]) != NULL) {
    at += sizeof label - 1;
    snprintf(ret, NAME_BYTES, "%.*s", (int)strcspn(at, "\"\\"), at);
  }
  buf_fini(&selector);
}

/* Returns the one of SERVICES that may have been meant by WORD, or NULL. */
static const char *find_nearest(const cJSON *services, const char *word) {
  char wanted[NAME_BYTES];
  find_wanted(word, wanted);
  struct near_word near = {.word = wanted};
  const cJSON *at;
  if (wanted[0] == '\0') return NULL;
  cJSON_ArrayForEach(at, services) if (cJSON_IsString(at)) near_word_offer(&near, at->valuestring);
  const char *found = near_word_found(&near);
  return found != NULL && strcmp(found, wanted) != 0 ? found : NULL;
}

void sampled_services_suggest(const cJSON *services, const char *word, struct buf *ret) {
  const char *nearest = find_nearest(services, word);
  const cJSON *at;
  int count = 0;
  if (nearest != NULL) {
    buf_printf(ret, "The nearest service is %.*s", NAME_BYTES, nearest);
    return;
  }
  buf_append_string(ret, "The services are ");
  cJSON_ArrayForEach(at, services) {
    if (count == SERVICES_SHOWN) break;
    if (!cJSON_IsString(at)) continue;
    buf_printf(ret, "%s%.*s", count++ > 0 ? ", " : "", NAME_BYTES, at->valuestring);
  }
  if (cJSON_GetArraySize(services) > count) buf_append_string(ret, " and others");
}
