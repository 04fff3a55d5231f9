/* SPDX-License-Identifier: Apache-2.0 */
/* Converts Prometheus text to OpenMetrics. The forms differ little: OpenMetrics names a family of
   counters without the `_total` of its samples, and ends with an end mark. So the collector's
   components print one form, and the other is derived from it. */
#include "open_metrics.h"

#include "common/buf.h"

#include <stdbool.h>
#include <string.h>

#define TOTAL "_total"

static bool starts_with(struct span line, const char *text) {
  return line.len >= strlen(text) && memcmp(line.data, text, strlen(text)) == 0;
}

/* Returns the end of the word of LINE that begins at AT. */
static size_t word_end(struct span line, size_t at) {
  while (at < line.len && line.data[at] != ' ') at++;
  return at;
}

static void convert_line(struct span line, struct buf *ret) {
  size_t total = strlen(TOTAL), start = strlen("# HELP ");
  bool is_about = starts_with(line, "# HELP ") || starts_with(line, "# TYPE ");
  size_t end = is_about ? word_end(line, start) : 0;
  if (is_about && end >= start + total && memcmp(line.data + end - total, TOTAL, total) == 0) {
    buf_append(ret, line.data, end - total);
    buf_append(ret, line.data + end, line.len - end);
  } else {
    buf_append(ret, line.data, line.len);
  }
  buf_append_byte(ret, '\n');
}

void open_metrics_convert(const struct buf *text, struct buf *ret) {
  struct span rest = buf_span(text);
  while (rest.len > 0) {
    const uint8_t *newline = memchr(rest.data, '\n', rest.len);
    size_t len = newline != NULL ? (size_t)(newline - rest.data) : rest.len;
    if (len > 0) convert_line(span_of(rest.data, len), ret);
    rest = span_of(rest.data + len, rest.len - len);
    if (rest.len > 0) rest = span_of(rest.data + 1, rest.len - 1);
  }
  buf_append_string(ret, "# EOF\n");
}
