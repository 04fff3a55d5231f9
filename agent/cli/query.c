/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof query`: sends one query to the collector, and prints the answer as a table or
   verbatim.  A file is written only when the answer is complete, so that a failure leaves the old
   file. */
#include "answer_flame.h"
#include "answer_text.h"
#include "commands.h"
#include "complaint.h"
#include "empty_side.h"
#include "field.h"
#include "nameless_modules.h"
#include "output_text.h"
#include "query_settings.h"
#include "terminal_style.h"

#include <cjson/cJSON.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static void print_table(const struct query_settings *settings, const struct api *api,
                        const cJSON *answer, struct buf *ret) {
  static void (*const printers[])(const cJSON *answer, const struct top_text *style,
                                  struct buf *out) = {
      [QUERY_PROFILE] = answer_text_top,       [QUERY_LOAD] = answer_text_load,
      [QUERY_CALLERS] = answer_text_callers,   [QUERY_CALLEES] = answer_text_callees,
      [QUERY_FUNCTION] = answer_text_function, [QUERY_SERIES] = answer_text_series,
  };
  const struct top_text style = terminal_style(settings->options.limit, settings->options.output);
  if (settings->is_flame)
    answer_flame_print(answer, (uint32_t)settings->options.depth, &style, ret);
  else
    printers[settings->view](answer, &style, ret);
  if (settings->view == QUERY_PROFILE) nameless_modules_print(api, answer, ret);
  terminal_style_letters(&style, ret);
}

/* Whether JSON is empty because the selector never had samples; that is then reported. */
static bool is_mistyped(const struct query_settings *settings, const struct api *api,
                        const cJSON *json) {
  if (settings->selector == NULL || field_number(json, "total") > 0) return false;
  return empty_side_never_was(api, settings->selector);
}

static int show(const struct query_settings *settings, const struct api *api,
                const struct fetch_answer *answer) {
  struct buf text = {0};
  int status = EXIT_FAILED;
  if (!settings->is_table)
    return output_text_write("query", settings->options.output, &answer->body);
  cJSON *json = answer_text_parse(answer->body.data, answer->body.len);
  if (json == NULL) {
    complaint("query: %.300s: the answer is not JSON: is this a collector's --http address?",
              settings->options.api.http);
  } else if (!is_mistyped(settings, api, json)) {
    print_table(settings, api, json, &text);
    status = output_text_write("query", settings->options.output, &text);
  }
  cJSON_Delete(json);
  buf_fini(&text);
  return status;
}

int query_main(int argc, char **argv) {
  struct query_settings settings;
  struct buf target = {0};
  struct api api;
  if (query_settings_parse(argc, argv, &settings) != 0) {
    complaint("query: %s", settings.error);
    return EXIT_USAGE;
  }
  if (settings.is_done) return 0;
  int status = api_open("query", &settings.options.api, &api);
  if (status != 0) return status;
  query_settings_print_target(&settings, &target);
  struct fetch_answer answer;
  const struct fetch_call call = {.method = "GET", .target = buf_text(&target)};
  status = api_call(&api, &call, &answer);
  if (status == 0) {
    status = show(&settings, &api, &answer);
    api_tell_stale(&api, &answer, "");
    fetch_answer_fini(&answer);
  }
  api_close(&api);
  buf_fini(&target);
  return status;
}
