/* SPDX-License-Identifier: Apache-2.0 */
/* Names are cut only on a terminal: a pipe or a file gets them whole.  Colour needs a terminal that
   has it and no NO_COLOR (https://no-color.org: not empty).  The locale's variables select the
   characters.  They are read directly, in the C library's order, because a static program has no
   locales. */
#include "terminal_style.h"

#include "report/ascii_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *setting(const char *name) {
  const char *text = getenv(name);
  return text != NULL ? text : "";
}

static bool has_colour(void) {
  const char *terminal = setting("TERM");
  return *setting("NO_COLOR") == '\0' && *terminal != '\0' && strcmp(terminal, "dumb") != 0;
}

static bool is_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  const char *locale = "";
  for (size_t i = 0; i < sizeof names / sizeof *names && *locale == '\0'; i++)
    locale = setting(names[i]);
  const char *charset = strchr(locale, '.');
  if (charset == NULL) return false;
  return strncasecmp(charset, ".UTF-8", 6) == 0 || strncasecmp(charset, ".UTF8", 5) == 0;
}

struct top_text terminal_style(uint64_t limit, const char *output) {
  struct top_text style = {.limit = (uint32_t)limit, .is_utf8 = is_utf8()};
  struct winsize size = {.ws_col = 0};
  if (output != NULL || isatty(STDOUT_FILENO) != 1) return style;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.columns = size.ws_col;
  style.has_colour = has_colour();
  return style;
}

void terminal_style_letters(const struct top_text *style, struct buf *text) {
  if (!style->is_utf8) ascii_text_keep(text, 0);
}
