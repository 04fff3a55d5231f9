/* SPDX-License-Identifier: Apache-2.0 */
/* Answers without a grammar: addr2line prints `file:line`, with -f a function's name before it,
   with -a the address before that; a script prints what its author likes.  All of them print the
   same number of lines for each address, so the number of lines tells the form, and lines that do
   not come out even tell that answers and addresses no longer belong together: then none is
   believed.

   "??" is how translators say that they do not know. */
#include "translator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_PER_ADDRESS_MAX = 3 };

static uint32_t count_lines(const char *lines) {
  uint32_t count = 0;
  for (; *lines != '\0'; lines++) count += *lines == '\n' || lines[1] == '\0';
  return count;
}

/* Cuts the first line off LINES. */
static struct span take_line(const char **lines) {
  size_t len = strcspn(*lines, "\n");
  struct span line = span_of(*lines, len);
  *lines += len + ((*lines)[len] == '\n');
  if (line.len > 0 && line.data[line.len - 1] == '\r') line.len--;
  return line;
}

static bool is_known(struct span line) {
  return line.len > 0 && !(line.len >= 2 && line.data[0] == '?' && line.data[1] == '?');
}

static bool is_address(struct span line) {
  return line.len > 2 && line.data[0] == '0' && line.data[1] == 'x';
}

/* "file:line", or "file:line (discriminator 3)". */
static int set_place(struct span line, struct arena *arena, struct frame_name *ret) {
  char *text = arena_string(arena, line.data, line.len);
  if (text == NULL) return -ENOMEM;
  char *colon = strrchr(text, ':');
  if (!is_known(line) || colon == NULL) return 0;
  *colon = '\0';
  unsigned long number = strtoul(colon + 1, NULL, 10);
  ret->file = text;
  ret->line = number <= UINT32_MAX ? (uint32_t)number : 0;
  return 0;
}

static int set_name(const struct span *lines, unsigned count, struct arena *arena,
                    struct frame_name *ret) {
  unsigned at = count > 1 && is_address(lines[0]) ? 1 : 0;
  if (!is_known(lines[at])) return 0;
  ret->name = arena_string(arena, lines[at].data, lines[at].len);
  if (ret->name == NULL) return -ENOMEM;
  return at + 1 < count ? set_place(lines[at + 1], arena, ret) : 0;
}

int translator_parse(const char *lines, uint32_t count, struct arena *arena,
                     struct frame_name *ret) {
  uint32_t line_count = count_lines(lines);
  if (count == 0 || line_count % count != 0 || line_count == 0) return -EBADMSG;
  uint32_t each = line_count / count;
  if (each > LINES_PER_ADDRESS_MAX) return -EBADMSG;
  for (uint32_t i = 0; i < count; i++) {
    struct span answer[LINES_PER_ADDRESS_MAX];
    for (uint32_t j = 0; j < each; j++) answer[j] = take_line(&lines);
    int error = set_name(answer, each, arena, &ret[i]);
    if (error != 0) return error;
  }
  return 0;
}
