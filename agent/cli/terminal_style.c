/* SPDX-License-Identifier: Apache-2.0 */
/* What is cut to fit a window is cut for people alone: a pipe and a file get all of it. */
#include "terminal_style.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct top_text terminal_style(uint64_t limit, const char *output) {
  struct top_text style = {.limit = (uint32_t)limit};
  struct winsize size = {.ws_col = 0};
  if (output != NULL || isatty(STDOUT_FILENO) != 1) return style;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.columns = size.ws_col;
  style.has_colour = getenv("NO_COLOR") == NULL;
  return style;
}
