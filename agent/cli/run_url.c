/* SPDX-License-Identifier: Apache-2.0 */
/* The page's address holds all that a view shows (web/src/model/selection.ts).  So the link to a
   run has its service, its labels and its time.  Concurrent runs of one service differ in their
   labels, or in their place (run_place.h); the first run has no place label.  A value is any text:
   in the selector it is quoted, and each byte with a meaning in an address is escaped.

   A daemon for all users adds the label `uid`, whatever the run's labels are.

   Times have milliseconds, as the collector has them, so that consecutive runs with the same place
   have separate ranges.  A window of samples belongs to the range that contains its middle.  The
   daemon begins a window when a run begins, and ends it at the flush.  So a run's window middles
   lie in its span, however short it was.  That needs the clocks of board and collector to agree.
   (With a daemon for all users, that holds for users other than root only if the last window ended
   at least ten seconds before: run_note_begin_window.)

   A display shows that a browser is available, as opposed to a serial console or a remote login.
   With a browser the link is one click; without it the text of `fleetprof query` is easier to
   read. */
#include "run_url.h"

#include "common/buf.h"
#include "common/clock.h"
#include "fetch/url.h"
#include "shell_word.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Appends NAME="VALUE"; the spans give the lengths. */
static void add_term(struct buf *match, struct span name, struct span value) {
  buf_append(match, name.data, name.len);
  buf_append_string(match, "=\"");
  for (size_t i = 0; i < value.len; i++) {
    if (value.data[i] == '"' || value.data[i] == '\\') buf_append_byte(match, '\\');
    buf_append_byte(match, value.data[i]);
  }
  buf_append_byte(match, '"');
}

static void add_labels(struct buf *match, const char *labels) {
  for (const char *line = labels; *line != '\0';) {
    size_t len = strcspn(line, "\n"), name_len = strcspn(line, "=");
    struct span name = span_of(line, name_len);
    if (name_len < len && !span_is_equal(name, span_of_string("uid"))) {
      buf_append_byte(match, ',');
      add_term(match, name, span_of(line + name_len + 1, len - name_len - 1));
    }
    line += line[len] == '\n' ? len + 1 : len;
  }
}

static void add_time(struct buf *ret, const char *name, uint64_t ns) {
  uint64_t ms = ns / NS_PER_MS;
  buf_printf(ret, "&%s=%" PRIu64 ".%03" PRIu64, name, ms / 1000, ms % 1000);
}

bool run_url_has_page(const char *page_url) {
  static const char api[] = "/" RUN_URL_API;
  size_t len = strlen(page_url), ending = sizeof api - 1;
  return len < ending || strcmp(page_url + len - ending, api) != 0;
}

void run_url_print(const char *page_url, const struct run_names *names, struct run_span span,
                   struct buf *ret) {
  struct buf match = {0};
  buf_append_byte(&match, '{');
  add_term(&match, span_of_string("service"), span_of_string(names->service));
  add_labels(&match, names->labels);
  if (names->is_first) add_labels(&match, "run=");
  buf_append_byte(&match, '}');
  bool has_page = run_url_has_page(page_url);
  buf_printf(ret, "%s%s", page_url, has_page ? "?view=profile&match=" : "profile?match=");
  const char *text = buf_text(&match);
  if (text != NULL) url_add_escaped(ret, text);
  if (text == NULL) ret->failed = true;
  buf_fini(&match);
  add_time(ret, "from", span.start_ns);
  add_time(ret, "to", span.end_ns + NS_PER_MS);
}

static bool has_browser(void) {
  static const char *const displays[] = {"DISPLAY", "WAYLAND_DISPLAY"};
  for (size_t i = 0; i < sizeof displays / sizeof *displays; i++) {
    const char *display = getenv(displays[i]);
    if (display != NULL && *display != '\0') return true;
  }
  return false;
}

void run_url_offer(const char *page_url, const struct run_names *names, struct run_span span,
                   struct buf *ret) {
  struct buf url = {0};
  run_url_print(page_url, names, span, &url);
  const char *text = buf_text(&url);
  if (text == NULL) {
    ret->failed = true;
  } else if (run_url_has_page(page_url) && has_browser()) {
    buf_append_string(ret, text);
  } else {
    buf_append_string(ret, "as text: ");
    shell_word_print(program_invocation_name, ret);
    buf_append_string(ret, " query -f flame ");
    shell_word_print(text, ret);
  }
  buf_fini(&url);
}
