/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is shown within the first second. The line goes to stderr, because stdout may be another
   program's input, and only to a terminal that can erase. A line that is rewritten repeatedly would
   fill a log, or a serial console without that sequence (TERM=dumb). A line wider than the terminal
   would leave its first part behind. */
#include "progress_line.h"

#include "clock.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WAIT_NS NS_PER_SECOND
#define BETWEEN_NS (NS_PER_SECOND / 5)

enum { BAR_CHARS = 24, LINE_BYTES = 256, USUAL_COLUMNS = 80 };

bool progress_line_is_possible(void) {
  const char *terminal = getenv("TERM");
  if (terminal == NULL || *terminal == '\0' || strcmp(terminal, "dumb") == 0) return false;
  return isatty(STDERR_FILENO) == 1;
}

void progress_line_init(struct progress_line *line, bool is_wanted) {
  *line = (struct progress_line){.is_terminal = is_wanted && progress_line_is_possible(),
                                 .begin_ns = clock_monotonic_ns()};
}

bool progress_line_is_due(const struct progress_line *line) {
  uint64_t now_ns = clock_monotonic_ns();
  return line->is_terminal && now_ns - line->begin_ns >= WAIT_NS &&
         now_ns - line->shown_ns >= BETWEEN_NS;
}

/* The number of bytes of TEXT that fit into the terminal's line, in whole characters. */
static int fitting(const char *text) {
  struct winsize size = {.ws_col = 0};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size.ws_col = USUAL_COLUMNS;
  size_t columns = 0, len = 0;
  for (; text[len] != '\0'; len++) {
    bool is_letter = ((unsigned char)text[len] & 0xc0) != 0x80;
    if (is_letter && ++columns >= size.ws_col) break;
  }
  return (int)len;
}

void progress_line_show(struct progress_line *line, const char *text) {
  if (!line->is_terminal) return;
  line->shown_ns = clock_monotonic_ns();
  line->is_shown = true;
  char shown[LINE_BYTES];
  snprintf(shown, sizeof shown, "%s", text);
  text_show(shown);
  fprintf(stderr, "\r\033[K%.*s", fitting(shown), shown);
  fflush(stderr);
}

void progress_line_bar(struct progress_line *line, uint64_t done, uint64_t total,
                       const char *text) {
  char bar[BAR_CHARS + 1], all[LINE_BYTES];
  double share = total > 0 && done < total ? (double)done / (double)total : 1;
  for (unsigned i = 0; i < BAR_CHARS; i++) bar[i] = i < (unsigned)(share * BAR_CHARS) ? '#' : '.';
  bar[BAR_CHARS] = '\0';
  snprintf(all, sizeof all, "[%s] %s", bar, text);
  progress_line_show(line, all);
}

void progress_line_clear(struct progress_line *line) {
  if (line->is_shown) fputs("\r\033[K", stderr);
  line->is_shown = false;
}
