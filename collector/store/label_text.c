/* SPDX-License-Identifier: Apache-2.0 */
/* Converts labels to text and back. A backslash, a newline and an equal sign are written as \\, \n
   and \e, so that every byte string from a board survives unchanged. NUL cannot occur in C strings.
   Decoding unescapes in place, as text only shrinks. */
#include "label_text.h"

#include "common/buf.h"

#include <errno.h>

static const char *escape_of(char letter) {
  switch (letter) {
  case '\\':
    return "\\\\";
  case '\n':
    return "\\n";
  default:
    return "\\e";
  }
}

/* Copies stretches without escapes, nearly always the whole text, at once. */
static void append_escaped(struct buf *ret, const char *text) {
  for (;;) {
    size_t len = strcspn(text, "\\\n=");
    buf_append(ret, text, len);
    text += len;
    if (*text == '\0') return;
    buf_append_string(ret, escape_of(*text++));
  }
}

void label_text_encode(const struct label *labels, size_t count, struct buf *ret) {
  for (size_t i = 0; i < count; i++) {
    append_escaped(ret, labels[i].name);
    buf_append_byte(ret, '=');
    append_escaped(ret, labels[i].value);
    buf_append_byte(ret, '\n');
  }
}

static int unescape(char letter, char *ret) {
  switch (letter) {
  case '\\':
    *ret = '\\';
    return 0;
  case 'n':
    *ret = '\n';
    return 0;
  case 'e':
    *ret = '=';
    return 0;
  default:
    return -EBADMSG;
  }
}

/* Unescapes *TEXT up to END, replaces END by NUL, and moves *TEXT past it. Returns 0 or
   -EBADMSG. */
static int take_part(char **text, char end, const char **ret) {
  char *from = *text, *to = *text;
  *ret = to;
  for (; *from != end; from++) {
    if (*from == '\0' || *from == '\n' || *from == '=') return -EBADMSG;
    if (*from == '\\') {
      if (unescape(*++from, to++) != 0) return -EBADMSG;
    } else {
      *to++ = *from;
    }
  }
  *text = from + 1;
  *to = '\0';
  return 0;
}

int label_text_decode(char *text, struct label *labels, uint32_t max, uint32_t *ret_count) {
  uint32_t count = 0;
  while (*text != '\0') {
    if (count == max) return -EBADMSG;
    if (take_part(&text, '=', &labels[count].name) != 0) return -EBADMSG;
    if (take_part(&text, '\n', &labels[count].value) != 0) return -EBADMSG;
    count++;
  }
  *ret_count = count;
  return 0;
}
