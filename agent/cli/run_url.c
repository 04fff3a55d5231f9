/* SPDX-License-Identifier: Apache-2.0 */
/* The page's own address holds all that a view shows (web/src/model/selection.ts), so the link to a
   run is its service and its time.  A service is any text: as a value of the selector it is quoted,
   and as a parameter each byte that has a meaning in an address is escaped.

   Times are whole seconds, the first down and the last up: a window of samples belongs to the range
   that holds its middle, which is between the two however short the run was. */
#include "run_url.h"

#include "common/buf.h"
#include "common/clock.h"
#include "fetch/url.h"

#include <inttypes.h>

void run_url_print(const char *page_url, const char *service, struct run_span span,
                   struct buf *ret) {
  struct buf match = {0};
  buf_append_string(&match, "{service=\"");
  for (const char *at = service; *at != '\0'; at++) {
    if (*at == '"' || *at == '\\') buf_append_byte(&match, '\\');
    buf_append_byte(&match, (uint8_t)*at);
  }
  buf_append_string(&match, "\"}");
  buf_printf(ret, "%s?view=profile&match=", page_url);
  const char *text = buf_text(&match);
  if (text != NULL) url_add_escaped(ret, text);
  if (text == NULL) ret->failed = true;
  buf_fini(&match);
  uint64_t from = span.start_ns / NS_PER_SECOND, to = span.end_ns / NS_PER_SECOND + 1;
  buf_printf(ret, "&from=%" PRIu64 "&to=%" PRIu64, from, to);
}
