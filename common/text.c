/* SPDX-License-Identifier: Apache-2.0 */
/* Thread names and paths are chosen by programs: broken UTF-8, escape sequences, line ends. They
   are shown in JSON, on terminals and in logs of users who trust the collector. So one rule holds
   on the wire: UTF-8 as in RFC 3629 (shortest form, no surrogates, at most U+10FFFF), without
   controls (below U+0020, U+007F to U+009F). Boards replace invalid bytes, collectors reject texts
   that still have some.

   Direction overrides and look-alike letters are permitted: some scripts need them. Direction
   overrides are not written to terminals, where they would reorder the text around them. */
#include "text.h"

#include <stdarg.h>

/* The bytes after each lead byte: their number, and the range of the first of them, which excludes
   overlong forms, surrogates and too large values. */
struct lead {
  uint8_t first, last; /* of the lead byte */
  uint8_t tail;        /* number of following bytes */
  uint8_t low, high;   /* of the first following byte */
};

static const struct lead leads[] = {
    {0x20, 0x7e, 0, 0, 0},       {0xc2, 0xc2, 1, 0xa0, 0xbf}, /* U+0080 to U+009F are controls */
    {0xc3, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf}, {0xe1, 0xec, 2, 0x80, 0xbf},
    {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf}, {0xf0, 0xf0, 3, 0x90, 0xbf},
    {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f},
};

/* Returns the length of the clean character at the start of TEXT, or 0. */
static size_t character_len(struct span text) {
  for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
    const struct lead *lead = &leads[i];
    if (text.data[0] < lead->first || text.data[0] > lead->last) continue;
    if (text.len <= lead->tail) return 0;
    if (lead->tail > 0 && (text.data[1] < lead->low || text.data[1] > lead->high)) return 0;
    for (size_t at = 2; at <= lead->tail; at++)
      if ((text.data[at] & 0xc0) != 0x80) return 0;
    return 1U + lead->tail;
  }
  return 0;
}

/* Advances TEXT to its first byte that is not clean. */
static void skip_clean(struct span *text) {
  struct span character;
  while (text->len > 0) {
    size_t len = character_len(*text);
    if (len == 0) return;
    span_take(text, len, &character);
  }
}

bool text_is_clean(struct span text) {
  skip_clean(&text);
  return text.len == 0;
}

void text_clean(char *text) {
  struct span rest = span_of_string(text), bad;
  for (skip_clean(&rest); rest.len > 0; skip_clean(&rest)) {
    text[(const char *)rest.data - text] = '?';
    span_take(&rest, 1, &bad);
  }
}

/* The marks begin with two of the lead sequences of U+2000 to U+207F, and end with a few values. */
bool text_turns(const uint8_t *at) {
  if (at[0] != 0xe2) return false;
  if (at[1] == 0x80) return at[2] >= 0xaa && at[2] <= 0xae;
  return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

void text_show(char *text) {
  text_clean(text); /* so each lead byte has its tail */
  for (; *text != '\0'; text++)
    if (text_turns((const uint8_t *)text)) text[0] = text[1] = text[2] = '?';
}

void text_print(FILE *out, const char *format, ...) {
  char line[TEXT_LINE_BYTES];
  va_list values;
  va_start(values, format);
  vsnprintf(line, sizeof line, format, values);
  va_end(values);
  text_show(line);
  fprintf(out, "%s\n", line);
}
