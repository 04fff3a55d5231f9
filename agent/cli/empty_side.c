/* SPDX-License-Identifier: Apache-2.0 */
/* A table in which one side is 0 % throughout looks like a finding, and is a typing mistake or the
   wrong hour.  The collector knows which: its labels of all times are asked (series, no samples, so
   that it costs little), once with the selector and, where that never meant anything, without. */
#include "empty_side.h"

#include "answer_text.h"
#include "api_client.h"
#include "common/buf.h"
#include "complaint.h"
#include "fetch/url.h"
#include "field.h"
#include "selector_word.h"

#include <cjson/cJSON.h>
#include <stdio.h>

enum { SERVICES_SHOWN = 8, SECOND_BYTES = 19 /* of a time, without what is below a second */ };

/* The services that have ever had samples of WORD (NULL: whatever) as a JSON document, or NULL. */
static cJSON *ask_services(const struct api *api, const char *word) {
  struct buf target = {0}, selector = {0};
  struct fetch_answer answer;
  cJSON *json = NULL;
  char limit[16];
  snprintf(limit, sizeof limit, "%d", SERVICES_SHOWN + 1);
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
  return json;
}

static void print_services(const cJSON *services, struct buf *ret) {
  const cJSON *at;
  int count = 0;
  cJSON_ArrayForEach(at, services) {
    if (count == SERVICES_SHOWN) break;
    if (!cJSON_IsString(at)) continue;
    buf_printf(ret, "%s%.100s", count++ > 0 ? ", " : "", at->valuestring);
  }
  if (cJSON_GetArraySize(services) > count) buf_append_string(ret, " and others");
}

void empty_side_tell(const struct api *api, const struct empty_side *side) {
  struct buf why = {0};
  cJSON *own = ask_services(api, side->word), *all = NULL;
  const cJSON *services = NULL;
  if (cJSON_GetArraySize(field_find(own, "data")) > 0) {
    buf_printf(&why, "there are some at other times: is --%s-from right, or --from?", side->name);
  } else if (own != NULL) {
    all = ask_services(api, NULL);
    services = field_find(all, "data");
    buf_append_string(&why, cJSON_GetArraySize(services) > 0
                                ? "nor at any other time: is the selector right?  The services are "
                                : "nor are there any of anything else");
    print_services(services, &why);
  }
  complaint("diff: %s, %.200s, has no samples from %.*sZ to %.*sZ%s%s", side->name, side->word,
            SECOND_BYTES, field_text(side->range, "from"), SECOND_BYTES,
            field_text(side->range, "to"), why.len > 0 ? ": " : "", buf_text(&why));
  cJSON_Delete(own);
  cJSON_Delete(all);
  buf_fini(&why);
}
