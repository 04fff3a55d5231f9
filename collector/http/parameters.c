/* SPDX-License-Identifier: Apache-2.0 */
/* Query parameters as browsers and curl write them. A repeated name is refused, because either
   value could be meant. A broken escape is refused rather than taken literally, because it is a
   mistake. NUL is refused in values, since they become C strings. */
#include "parameters.h"

#include "common/arena.h"

#include <errno.h>
#include <stdio.h>

static int hex_digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

const char *parameters_unescape(struct span text, bool is_form, struct arena *arena) {
  char *plain = arena_alloc(arena, text.len + 1);
  if (plain == NULL) return NULL;
  size_t len = 0;
  for (size_t i = 0; i < text.len; i++) {
    uint8_t c = text.data[i];
    if (c == '+' && is_form) c = ' ';
    if (c == '%') {
      if (text.len - i < 3) return NULL;
      int high = hex_digit(text.data[i + 1]), low = hex_digit(text.data[i + 2]);
      if (high < 0 || low < 0) return NULL;
      c = (uint8_t)(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return NULL;
    plain[len++] = (char)c;
  }
  return plain; /* terminated, since the arena's bytes are zero */
}

static struct span take_until(struct span *text, uint8_t separator) {
  const uint8_t *at = text->len ? memchr(text->data, separator, text->len) : NULL;
  size_t len = at ? (size_t)(at - text->data) : text->len;
  struct span before = span_of(text->data, len);
  size_t cut = at ? len + 1 : len;
  *text = span_of(text->data + cut, text->len - cut);
  return before;
}

static int add(struct span pair, struct arena *arena, struct parameters *parameters, char *why,
               size_t why_len) {
  struct span value = pair;
  struct span name = take_until(&value, '=');
  const char *name_text = parameters_unescape(name, true, arena);
  if (name_text == NULL || *name_text == '\0') {
    snprintf(why, why_len, "a parameter has no readable name");
    return -EINVAL;
  }
  const char *value_text = parameters_unescape(value, true, arena);
  if (value_text == NULL)
    snprintf(why, why_len, "%s: has a %%-escape that is broken or stands for NUL", name_text);
  else if (parameters_find(parameters, name_text))
    snprintf(why, why_len, "%s: is given twice", name_text);
  else if (parameters->count == PARAMETERS_MAX)
    snprintf(why, why_len, "%s: more than %d parameters", name_text, PARAMETERS_MAX);
  else {
    parameters->rows[parameters->count++] = (struct parameter){name_text, value_text};
    return 0;
  }
  return -EINVAL;
}

int parameters_parse(struct span query, struct arena *arena, struct parameters *ret, char *why,
                     size_t why_len) {
  struct parameters parameters = {0};
  while (query.len > 0) {
    struct span pair = take_until(&query, '&');
    if (pair.len == 0) continue; /* "a=1&&b=2" and a trailing "&" are common and harmless */
    int error = add(pair, arena, &parameters, why, why_len);
    if (error) return error;
  }
  *ret = parameters;
  return 0;
}

const char *parameters_find(const struct parameters *parameters, const char *name) {
  for (unsigned i = 0; i < parameters->count; i++)
    if (strcmp(parameters->rows[i].name, name) == 0) return parameters->rows[i].value;
  return NULL;
}
