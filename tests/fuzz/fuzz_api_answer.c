/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a collector's answer. The tables made from it must be clean text, without control
   sequences for a terminal. */
#include "cli/answer_flame.h"
#include "cli/answer_text.h"
#include "common/buf.h"
#include "common/text.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require_clean(struct buf *text) {
  for (size_t i = 0; i < text->len; i++)
    if (text->data[i] == '\n') text->data[i] = ' ';
  if (!text_is_clean(buf_span(text))) abort();
  buf_clear(text);
}

static void print_flame(const cJSON *answer, const struct top_text *style, struct buf *out) {
  answer_flame_print(answer, 8, style, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static const struct top_text style = {.limit = 10};
  static void (*const printers[])(const cJSON *answer, const struct top_text *style,
                                  struct buf *out) = {
      answer_text_top,      answer_text_load,   answer_text_callers,
      answer_text_function, answer_text_series, print_flame,
  };
  cJSON *answer = answer_text_parse(data, len);
  struct buf text = {0};
  for (size_t i = 0; answer != NULL && i < sizeof printers / sizeof *printers; i++) {
    printers[i](answer, &style, &text);
    require_clean(&text);
  }
  buf_fini(&text);
  cJSON_Delete(answer);
  return 0;
}
