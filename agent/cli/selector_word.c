/* SPDX-License-Identifier: Apache-2.0 */
/* '{service="redis-server",board=~"edge-.*"}' is long to type, and easily misquoted in a shell.
   redis-server and service=redis-server,board=~edge-.* mean the same.  Values with commas need the
   long form. */
#include "selector_word.h"

#include "common/buf.h"

#include <stdio.h>
#include <string.h>

static void append_quoted(const char *text, size_t len, struct buf *ret) {
  buf_append_byte(ret, '"');
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '"' || text[i] == '\\') buf_append_byte(ret, '\\');
    buf_append_byte(ret, (uint8_t)text[i]);
  }
  buf_append_byte(ret, '"');
}

/* Appends one matcher of LEN bytes; without an operator the collector will reject it. */
static void append_matcher(const char *text, size_t len, struct buf *ret) {
  size_t name = strcspn(text, "=!,"), after = name;
  while (after < len && after - name < 2 && strchr("=!~", text[after]) != NULL) after++;
  buf_append(ret, text, after < len ? after : len);
  if (after > name && after < len && text[after] == '"')
    buf_append(ret, text + after, len - after);
  else if (after > name)
    append_quoted(text + after, len - after, ret);
}

void selector_word_print(const char *word, struct buf *ret) {
  if (*word == '{' || *word == '\0') {
    buf_append_string(ret, word);
    return;
  }
  buf_append_byte(ret, '{');
  if (strchr(word, '=') == NULL && strstr(word, "!~") == NULL) {
    buf_append_string(ret, "service=");
    append_quoted(word, strlen(word), ret);
    word += strlen(word);
  }
  for (size_t len; *word != '\0'; word += len + (word[len] == ',')) {
    len = strcspn(word, ",");
    append_matcher(word, len, ret);
    if (word[len] == ',') buf_append_byte(ret, ',');
  }
  buf_append_byte(ret, '}');
}

bool selector_word_next(const char **at, struct selector_matcher *ret) {
  const char *text = *at + strspn(*at, "{, \t");
  size_t name = strcspn(text, "=!~,}\" \t"), len = 0;
  const char *sign = text + name + strspn(text + name, " \t");
  size_t sign_len = strspn(sign, "=!~");
  const char *value = sign + sign_len + strspn(sign + sign_len, " \t");
  if (name == 0 || sign_len == 0 || *value != '"') return false;
  *ret = (struct selector_matcher){.is_equal = sign_len == 1 && *sign == '='};
  snprintf(ret->name, sizeof ret->name, "%.*s", (int)name, text);
  for (value++; *value != '"' && *value != '\0'; value++) {
    if (*value == '\\' && value[1] != '\0') value++;
    if (len + 1 < sizeof ret->value) ret->value[len++] = *value;
  }
  *at = *value == '"' ? value + 1 : value;
  return true;
}
