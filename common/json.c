/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, boards and labels are untrusted: they may contain quotes, control characters,
   HTML, incomplete UTF-8 sequences. Each string is escaped so that the answer parses everywhere,
   and stays inert in a page or on a terminal. Bytes that are not UTF-8 become U+FFFD, one for each
   byte.

   Integers are written in full (readers that need more than 53 bits must configure their parser),
   doubles with the fewest digits that read back equal. There is no tree: a comma is due if the
   level has items, and that is the only state. */
#include "json.h"

#include "buf.h"
#include "text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put(struct json *json, const void *data, size_t len) {
  if (json->is_full) return;
  if (json->out->len + len > json->limit) {
    json->is_full = true;
    return;
  }
  buf_append(json->out, data, len);
}

static void put_text(struct json *json, const char *text) {
  put(json, text, strlen(text));
}

/* Writes the comma before a value, if one is due. */
static void begin_value(struct json *json) {
  if (json->is_after_key) {
    json->is_after_key = false;
    return;
  }
  if (json->depth == 0) return;
  if (json->has_items[json->depth - 1]) put(json, ",", 1);
  json->has_items[json->depth - 1] = true;
}

/* Returns the length of the UTF-8 sequence that starts TEXT, or 0 if it is invalid: overlong forms,
   surrogates and values above U+10FFFF are invalid. */
static size_t sequence_len(struct span text) {
  uint8_t first = text.data[0];
  size_t len = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (len == 0 || first > 0xf4 || len > text.len) return 0;
  for (size_t i = 1; i < len; i++)
    if ((text.data[i] & 0xc0) != 0x80) return 0;
  if (len == 3 && first == 0xe0 && text.data[1] < 0xa0) return 0;
  if (len == 3 && first == 0xed && text.data[1] > 0x9f) return 0;
  if (len == 4 && first == 0xf0 && text.data[1] < 0x90) return 0;
  if (len == 4 && first == 0xf4 && text.data[1] > 0x8f) return 0;
  return len;
}

/* Needs no escape: printable ASCII without a meaning in JSON or HTML. */
static const bool is_plain[256] = {
    [0x20 ... 0x21] = true, [0x23 ... 0x25] = true, [0x27 ... 0x3b] = true,
    [0x3d] = true,          [0x3f ... 0x5b] = true, [0x5d ... 0x7e] = true,
};

static void put_escaped(struct json *json, uint32_t c) {
  char escape[8];
  if (c == '"' || c == '\\')
    snprintf(escape, sizeof escape, "\\%c", (char)c);
  else
    snprintf(escape, sizeof escape, "\\u%04x", c & 0xffff);
  put_text(json, escape);
}

/* Returns the character at the head of TEXT, of LEN bytes, if a terminal interprets it: a two-byte
   control, or a mark that changes the direction of writing (text.h); else 0. */
static uint32_t obeyed(struct span text, size_t len) {
  const uint8_t *at = text.data;
  if (len == 2 && at[0] == 0xc2 && at[1] < 0xa0) return at[1];
  if (len != 3 || !text_turns(at)) return 0;
  return 0x2000 | (at[1] & 0x3fU) << 6 | (at[2] & 0x3fU);
}

void json_init(struct json *json, struct buf *out, size_t limit) {
  *json = (struct json){.out = out, .limit = limit};
}

void json_open(struct json *json, char bracket) {
  assert(json->depth < JSON_DEPTH_MAX);
  begin_value(json);
  json->has_items[json->depth++] = false;
  put(json, &bracket, 1);
}

void json_close(struct json *json, char bracket) {
  assert(json->depth > 0);
  json->depth--;
  put(json, &bracket, 1);
}

void json_key(struct json *json, const char *key) {
  json_string(json, key);
  put(json, ":", 1);
  json->is_after_key = true;
}

void json_span(struct json *json, struct span text) {
  begin_value(json);
  put(json, "\"", 1);
  while (text.len > 0 && !json->is_full) {
    size_t plain = 0;
    while (plain < text.len && is_plain[text.data[plain]]) plain++;
    put(json, text.data, plain);
    text = span_of(text.data + plain, text.len - plain);
    if (text.len == 0) break;
    size_t len = sequence_len(text);
    uint32_t special = len == 1 ? text.data[0] : obeyed(text, len);
    if (special != 0 || len == 1)
      put_escaped(json, special);
    else if (len == 0)
      put_text(json, "\xef\xbf\xbd");
    else
      put(json, text.data, len);
    len = len ? len : 1;
    text = span_of(text.data + len, text.len - len);
  }
  put(json, "\"", 1);
}

void json_string(struct json *json, const char *text) {
  if (text == NULL) {
    begin_value(json);
    put_text(json, "null");
    return;
  }
  json_span(json, span_of_string(text));
}

void json_uint(struct json *json, uint64_t value) {
  char text[24];
  size_t at = sizeof text; /* an answer may contain a million numbers: no printf */
  do text[--at] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  begin_value(json);
  put(json, text + at, sizeof text - at);
}

void json_wide(struct json *json, wide_sum value) {
  char digits[WIDE_SUM_DIGITS + 1];
  if (!wide_sum_is_long(value)) {
    json_uint(json, (uint64_t)value);
    return;
  }
  wide_sum_print(value, digits);
  begin_value(json);
  put_text(json, digits);
}

void json_int(struct json *json, int64_t value) {
  if (value >= 0) {
    json_uint(json, (uint64_t)value);
    return;
  }
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  begin_value(json);
  put_text(json, text);
}

void json_double(struct json *json, double value) {
  char text[40] = "null";
  for (int digits = 15; isfinite(value) && digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    double again = strtod(text, NULL);
    if (memcmp(&again, &value, sizeof value) == 0) break;
  }
  begin_value(json);
  put_text(json, text);
}

void json_bool(struct json *json, bool value) {
  begin_value(json);
  put_text(json, value ? "true" : "false");
}

uint8_t *json_raw_begin(struct json *json, size_t len_max) {
  begin_value(json);
  if (json->is_full) return NULL;
  if (json->out->len > json->limit || len_max > json->limit - json->out->len) {
    json->is_full = true;
    return NULL;
  }
  return buf_reserve(json->out, len_max);
}

void json_raw_end(struct json *json, size_t len) {
  json->out->len += len;
}

void json_key_string(struct json *json, const char *key, const char *text) {
  json_key(json, key);
  json_string(json, text);
}

void json_key_wide(struct json *json, const char *key, wide_sum value) {
  char digits[WIDE_SUM_DIGITS + 1], exact[64];
  json_key(json, key);
  json_wide(json, value);
  if (value <= JSON_EXACT_MAX) return;
  wide_sum_print(value, digits);
  snprintf(exact, sizeof exact, "%s_exact", key);
  json_key_string(json, exact, digits);
}

void json_key_uint(struct json *json, const char *key, uint64_t value) {
  json_key_wide(json, key, value);
}
