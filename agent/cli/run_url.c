/* SPDX-License-Identifier: Apache-2.0 */
/* The page's own address holds all that a view shows (web/src/model/selection.ts), so the link to a
   run is its service and its time.  A service is any text: as a value of the selector it is quoted,
   and as a parameter each byte that has a meaning in an address is escaped.

   Times are whole seconds, the first down and the last up: a window of samples belongs to the range
   that holds its middle, which is between the two however short the run was. */
#include "run_url.h"

#include "common/buf.h"
#include "common/clock.h"

#include <ctype.h>
#include <inttypes.h>

/* Appends BYTE as a part of a parameter's value. */
static void print_byte(unsigned char byte, struct buf *ret) {
  bool is_plain = byte < 0x80 && (isalnum(byte) || byte == '-' || byte == '_' || byte == '.');
  buf_printf(ret, is_plain ? "%c" : "%%%02X", byte);
}

static void print_text(const char *text, struct buf *ret) {
  for (; *text != '\0'; text++) print_byte((unsigned char)*text, ret);
}

void run_url_print(const char *page_url, const char *service, struct run_span span,
                   struct buf *ret) {
  buf_printf(ret, "%s?view=profile&match=", page_url);
  print_text("{service=\"", ret);
  for (const char *at = service; *at != '\0'; at++) {
    if (*at == '"' || *at == '\\') print_byte('\\', ret);
    print_byte((unsigned char)*at, ret);
  }
  print_text("\"}", ret);
  uint64_t from = span.start_ns / NS_PER_SECOND, to = span.end_ns / NS_PER_SECOND + 1;
  buf_printf(ret, "&from=%" PRIu64 "&to=%" PRIu64, from, to);
}
