/* SPDX-License-Identifier: Apache-2.0 */
/* Cleaning of symbol names.

   A symbol name is any bytes up to a NUL. The cleaned name is printable: valid UTF-8 (RFC 3629: no
   overlong forms, no surrogates, nothing over U+10FFFF), and no C0 or C1 control. It has no marks
   that reorder text (U+202A-202E, U+2066-2069), which could make a name look like another. Writers
   of HTML and JSON must still escape it. */
#include "name_text.h"

#include "common/buf.h"

static const char cut_mark[] = "...";

static size_t sequence_len(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

static bool is_shown(uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false;
  if (code >= 0x202a && code <= 0x202e) return false;
  return code < 0x2066 || code > 0x2069;
}

/* Returns the length of the clean character at the head of TEXT, or 0 if it is not clean. */
static size_t clean_len(struct span text) {
  static const uint8_t first_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t len = sequence_len(text.data[0]);
  if (len == 0 || len > text.len) return 0;
  uint32_t code = text.data[0] & first_mask[len];
  for (size_t i = 1; i < len; i++) {
    if ((text.data[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (text.data[i] & 0x3f);
  }
  if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
  return is_shown(code) ? len : 0;
}

/* Returns how many bytes at the head of TEXT, up to MAX, are printable ASCII: usually all. */
static size_t plain_len(struct span text, size_t max) {
  size_t len = 0;
  if (max > text.len) max = text.len;
  while (len < max && text.data[len] >= 0x20 && text.data[len] < 0x7f) len++;
  return len;
}

static struct span behind(struct span text, size_t len) {
  return span_of(text.data + len, text.len - len);
}

bool name_text_is_clean(struct span text) {
  for (size_t len; text.len > 0; text = behind(text, len)) {
    len = plain_len(text, text.len);
    if (len == 0) len = clean_len(text);
    if (len == 0) return false;
  }
  return true;
}

void name_text_append(struct span raw, size_t limit, struct buf *ret) {
  size_t mark_len = sizeof cut_mark - 1;
  bool is_cut = raw.len > limit;
  size_t room = is_cut ? limit - mark_len : limit;
  while (raw.len > 0) {
    size_t len = plain_len(raw, room);
    if (len == 0) len = clean_len(raw);
    size_t taken = len > 0 ? len : 1;
    if (taken > room) break;
    if (len > 0)
      buf_append(ret, raw.data, len);
    else
      buf_append_byte(ret, '?');
    room -= taken;
    raw = behind(raw, taken);
  }
  if (is_cut) buf_append(ret, cut_mark, mark_len);
  buf_append_byte(ret, '\0');
}
