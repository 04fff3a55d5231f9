/* SPDX-License-Identifier: Apache-2.0 */
/* The request covers labels of all times; it reads series, not samples, so it is cheap.  A
   selection that never matched a series contains a typing mistake: one of its labels or values is
   unknown. */
#include "label_values.h"

#include "answer_text.h"
#include "api_client.h"
#include "common/buf.h"
#include "common/near_word.h"
#include "fetch/url.h"
#include "selector_word.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 8, ASKED_MAX = 10000, TEXT_BYTES = 100 };

static const char service[] = "service";

cJSON *label_values_ask(const struct api *api, const char *label, const char *word) {
  struct buf target = {0}, selector = {0};
  struct fetch_answer answer;
  cJSON *json = NULL;
  char limit[16];
  snprintf(limit, sizeof limit, "%d", ASKED_MAX);
  buf_append_string(&target, label != NULL ? "/api/v1/labels/" : "/api/v1/labels");
  if (label != NULL) url_add_escaped(&target, label);
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
  cJSON *values = cJSON_DetachItemFromObjectCaseSensitive(json, "data");
  cJSON_Delete(json);
  return values;
}

static bool has(const cJSON *values, const char *wanted) {
  const cJSON *at;
  cJSON_ArrayForEach(at, values) {
    if (cJSON_IsString(at) && strcmp(at->valuestring, wanted) == 0) return true;
  }
  return false;
}

/* Returns the member of VALUES that is probably meant by WANTED, or NULL. */
static const char *find_nearest(const cJSON *values, const char *wanted) {
  struct near_word near = {.word = wanted};
  const cJSON *at;
  cJSON_ArrayForEach(at, values) if (cJSON_IsString(at)) near_word_offer(&near, at->valuestring);
  return near_word_found(&near);
}

/* Detaches the member of VALUES that is nearest to WANTED.  Returns it, which the caller deletes,
   or NULL. */
static cJSON *take_nearest(cJSON *values, const char *wanted) {
  struct near_word near = {.word = wanted};
  cJSON *at, *nearest = NULL;
  cJSON_ArrayForEach(at, values) {
    if (cJSON_IsString(at) && near_word_offer(&near, at->valuestring)) nearest = at;
  }
  return nearest != NULL ? cJSON_DetachItemViaPointer(values, nearest) : NULL;
}

/* Appends and removes members of VALUES, nearest to WANTED first. */
static void append_nearest_first(cJSON *values, const char *wanted, struct buf *ret) {
  cJSON *at = NULL;
  for (int i = 0; i < SHOWN_MAX && (at = take_nearest(values, wanted)) != NULL; i++) {
    buf_printf(ret, "%s%.*s", i > 0 ? ", " : "", TEXT_BYTES, at->valuestring);
    cJSON_Delete(at);
  }
  if (cJSON_GetArraySize(values) > 0) buf_append_string(ret, " and others");
}

/* Labels that every selection may use. */
static bool is_everywhere(const char *label) {
  static const char *const names[] = {service,  "board", "exe",   "build_id",
                                      "thread", "arch",  "kernel"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(label, names[i]) == 0) return true;
  return false;
}

/* If NAMES lacks LABEL, appends the nearest label, or some labels.  Returns whether it is
   missing. */
static bool suggest_label(cJSON *names, const char *label, struct buf *ret) {
  if (is_everywhere(label) || has(names, label)) return false;
  const char *nearest = find_nearest(names, label);
  buf_printf(ret, "No samples have a label %.*s; ", TEXT_BYTES, label);
  if (nearest != NULL) {
    buf_printf(ret, "the nearest is %.*s", TEXT_BYTES, nearest);
    return true;
  }
  buf_append_string(ret, "there are ");
  append_nearest_first(names, label, ret);
  return true;
}

/* Appends the values of LABEL, the nearest to WANTED first; of services only the likely match. */
static void print_values(cJSON *values, const char *label, const char *wanted, struct buf *ret) {
  bool is_service = strcmp(label, service) == 0;
  const char *nearest = is_service ? find_nearest(values, wanted) : NULL;
  if (nearest != NULL) {
    buf_printf(ret, "The nearest service is %.*s", TEXT_BYTES, nearest);
    return;
  }
  if (is_service)
    buf_append_string(ret, "The services are ");
  else
    buf_printf(ret, "The values of %.*s are ", TEXT_BYTES, label);
  append_nearest_first(values, wanted, ret);
}

/* If the label of MATCHER never had its value, appends the known values.  Returns whether that is
   so. */
static bool suggest_value(const struct api *api, const struct selector_matcher *matcher,
                          struct buf *ret) {
  cJSON *values = label_values_ask(api, matcher->name, NULL);
  bool is_there = cJSON_GetArraySize(values) == 0 || has(values, matcher->value);
  if (!is_there) print_values(values, matcher->name, matcher->value, ret);
  cJSON_Delete(values);
  return !is_there;
}

/* Appends suggestions for the first unknown label or value of SELECTOR.  Returns whether there is
   one. */
static bool suggest(const struct api *api, const char *selector, cJSON *names, struct buf *ret) {
  struct selector_matcher matcher;
  const char *at = selector;
  while (selector_word_next(&at, &matcher))
    if (suggest_label(names, matcher.name, ret)) return true;
  at = selector;
  while (selector_word_next(&at, &matcher))
    if (matcher.is_equal && suggest_value(api, &matcher, ret)) return true;
  return false;
}

bool label_values_suggest(const struct api *api, const char *word, struct buf *ret) {
  struct buf selector = {0};
  cJSON *names = label_values_ask(api, NULL, NULL);
  bool has_samples = cJSON_GetArraySize(names) > 0;
  selector_word_print(word, &selector);
  const char *text = buf_text(&selector);
  if (has_samples && text != NULL && !suggest(api, text, names, ret)) {
    cJSON *services = label_values_ask(api, service, NULL);
    buf_append_string(ret, "The services are ");
    append_nearest_first(services, "", ret);
    cJSON_Delete(services);
  }
  buf_fini(&selector);
  cJSON_Delete(names);
  return has_samples;
}
