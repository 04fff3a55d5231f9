/* SPDX-License-Identifier: Apache-2.0 */
/* Strings from targets are cleaned first (text.h); after that only quote and backslash need an
   escape.  The last byte of the buffer shows whether a comma is needed.  Fractions have three
   digits: they are for display. */
#include "status_json.h"

#include "common/text.h"
#include "keeper/settings.h"

#include <string.h>

enum { TEXT_BYTES_MAX = SETTINGS_PATH_BYTES };

void json_text(struct buf *out, const char *text, size_t len) {
  char clean[TEXT_BYTES_MAX];
  if (len > sizeof clean - 1) len = sizeof clean - 1;
  memcpy(clean, text, len);
  clean[len] = '\0';
  text_show(clean);
  buf_append_byte(out, '"');
  for (const char *c = clean; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') buf_append_byte(out, '\\');
    buf_append_byte(out, (uint8_t)*c);
  }
  buf_append_byte(out, '"');
}

void json_name(struct buf *out, const char *name) {
  if (out->len > 0 && out->data[out->len - 1] != '{') buf_append_byte(out, ',');
  json_text(out, name, strlen(name));
  buf_append_byte(out, ':');
}

void json_string(struct buf *out, const char *name, const char *text) {
  json_name(out, name);
  json_text(out, text ? text : "", text ? strlen(text) : 0);
}

void json_number(struct buf *out, const char *name, uint64_t value) {
  json_name(out, name);
  buf_printf(out, "%llu", (unsigned long long)value);
}

void json_fraction(struct buf *out, const char *name, double value) {
  json_name(out, name);
  buf_printf(out, "%.3f", value);
}

void json_bool(struct buf *out, const char *name, bool value) {
  json_name(out, name);
  buf_append_string(out, value ? "true" : "false");
}

void json_open(struct buf *out, const char *name) {
  json_name(out, name);
  buf_append_byte(out, '{');
}
