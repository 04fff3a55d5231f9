/* SPDX-License-Identifier: Apache-2.0 */
/* A table with 0 % throughout on one side looks like a result, and an empty table like an idle
   program.  The cause may be a typing mistake or the wrong hour.  So the collector is queried once
   more with the selector, and then without it if the selector never matched. */
#include "empty_side.h"

#include "api_client.h"
#include "common/buf.h"
#include "complaint.h"
#include "field.h"
#include "label_values.h"

#include <cjson/cJSON.h>

enum { SECOND_BYTES = 19 /* length of a time in whole seconds */ };

/* Appends the advice about WORD, which never had samples. */
static void print_advice(const struct api *api, const char *word, struct buf *ret) {
  struct buf hint = {0};
  if (label_values_suggest(api, word, &hint))
    buf_printf(ret, "nor at any other time: is the selector right?  %s", buf_text(&hint));
  else
    buf_append_string(ret, "nor are there any of anything else");
  buf_fini(&hint);
}

void empty_side_tell(const struct api *api, const struct empty_side *side) {
  struct buf why = {0};
  cJSON *own = label_values_ask(api, "service", side->word);
  if (cJSON_GetArraySize(own) > 0)
    buf_printf(&why, "there are some at other times: is --%s-from right, or --from?", side->name);
  else if (own != NULL)
    print_advice(api, side->word, &why);
  complaint("diff: %s, %.200s, has no samples from %.*sZ to %.*sZ%s%s", side->name, side->word,
            SECOND_BYTES, field_text(side->range, "from"), SECOND_BYTES,
            field_text(side->range, "to"), why.len > 0 ? ": " : "", buf_text(&why));
  cJSON_Delete(own);
  buf_fini(&why);
}

bool empty_side_never_was(const struct api *api, const char *word) {
  struct buf why = {0};
  cJSON *own = label_values_ask(api, "service", word);
  bool never_was = own != NULL && cJSON_GetArraySize(own) == 0;
  if (never_was) {
    print_advice(api, word, &why);
    complaint("query: %.200s: has no samples at this time, %s", word, buf_text(&why));
  }
  cJSON_Delete(own);
  buf_fini(&why);
  return never_was;
}
