/* SPDX-License-Identifier: Apache-2.0 */
/* A line of /proc/PID/maps is

      7f0c1a000000-7f0c1a021000 r-xp 00001000 fe:01 1234567    /usr/lib/libc.so.6

   with hexadecimal numbers, except the inode.  The path is the rest after the blanks, and the
   target chooses it: it may contain blanks, quotes and " (deleted)".  The kernel writes a newline
   in it as \012, so a line is always one mapping.  Only the format is checked here. */
#include "mappings.h"

#include <errno.h>

static int digit_of(uint8_t c, unsigned base) {
  int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  return digit < (int)base ? digit : -1;
}

/* Reads digits in BASE, followed by the byte END.  Returns false if they are missing. */
static bool take_number(struct span *line, unsigned base, char end, uint64_t *ret) {
  uint64_t value = 0;
  size_t at = 0;
  for (; at < line->len; at++) {
    int digit = digit_of(line->data[at], base);
    if (digit < 0) break;
    if (value > (UINT64_MAX - 15) / base) return false;
    value = value * base + (unsigned)digit;
  }
  if (at == 0) return false;
  if (at == line->len ? end != ' ' : line->data[at] != (uint8_t)end) return false;
  struct span taken;
  span_take(line, at == line->len ? at : at + 1, &taken);
  *ret = value;
  return true;
}

static bool take_permissions(struct span *line, struct mapping *ret) {
  enum { PERMISSION_BYTES = 5 }; /* "r-xp " */
  struct span field;
  if (!span_take(line, PERMISSION_BYTES, &field) || field.data[4] != ' ') return false;
  ret->is_writable = field.data[1] == 'w';
  ret->is_executable = field.data[2] == 'x';
  ret->is_shared = field.data[3] == 's';
  return true;
}

static bool parse_line(struct span line, struct mapping *ret) {
  uint64_t major, minor;
  struct mapping found;
  if (!take_number(&line, 16, '-', &found.start) || !take_number(&line, 16, ' ', &found.end) ||
      !take_permissions(&line, &found) ||
      !take_number(&line, 16, ' ', &found.file_offset) || !take_number(&line, 16, ':', &major) ||
      !take_number(&line, 16, ' ', &minor) || !take_number(&line, 10, ' ', &found.inode))
    return false;
  if (found.start >= found.end || major > UINT32_MAX || minor > UINT32_MAX) return false;
  found.major = (uint32_t)major;
  found.minor = (uint32_t)minor;
  while (line.len > 0 && line.data[0] == ' ') {
    line.data++;
    line.len--;
  }
  found.path = line;
  *ret = found;
  return true;
}

int mappings_next(struct span *text, struct mapping *ret) {
  if (text->len == 0) return -ENOENT;
  const uint8_t *end = memchr(text->data, '\n', text->len);
  struct span line, newline;
  span_take(text, end ? (size_t)(end - text->data) : text->len, &line);
  if (end) span_take(text, 1, &newline);
  return parse_line(line, ret) ? 0 : -EBADMSG;
}

struct span mappings_path(struct span path) {
  static const char deleted[] = " (deleted)";
  size_t tail = sizeof deleted - 1;
  if (path.len > tail && memcmp(path.data + path.len - tail, deleted, tail) == 0) path.len -= tail;
  return path;
}
