/* SPDX-License-Identifier: Apache-2.0 */
/* As strict as necessary to find an answer's end reliably, by RFC 9112, 6.3. Contradictory lengths,
   or a length together with chunks, are rejected, as are folded header lines, which are obsolete.
   Callers look up other fields themselves. */
#include "answer_head.h"

#include <errno.h>
#include <strings.h>

enum { VERSION_BYTES = 8, STATUS_DIGITS = 3, NO_CONTENT = 204, NOT_MODIFIED = 304, FIRST_OK = 200 };

/* Takes the first line off REST, without its end. Returns false if REST is empty. */
static bool take_line(struct span *rest, struct span *line) {
  if (rest->len == 0) return false;
  const uint8_t *end = memchr(rest->data, '\n', rest->len);
  size_t len = end != NULL ? (size_t)(end - rest->data) : rest->len;
  *line = span_of(rest->data, len);
  size_t cut = end != NULL ? len + 1 : len;
  *rest = span_of(rest->data + cut, rest->len - cut);
  if (line->len > 0 && line->data[line->len - 1] == '\r') line->len--;
  return true;
}

static struct span trim(struct span text) {
  while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
    text = span_of(text.data + 1, text.len - 1);
  while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
    text.len--;
  return text;
}

static bool is_word(struct span text, const char *word) {
  return text.len == strlen(word) && strncasecmp((const char *)text.data, word, text.len) == 0;
}

/* Splits LINE at its colon. */
static int split(struct span line, struct span *name, struct span *value) {
  const uint8_t *colon = line.len > 0 ? memchr(line.data, ':', line.len) : NULL;
  if (colon == NULL || colon == line.data || line.data[0] == ' ' || line.data[0] == '\t')
    return -EBADMSG;
  size_t len = (size_t)(colon - line.data);
  *name = span_of(line.data, len);
  *value = trim(span_of(colon + 1, line.len - len - 1));
  return 0;
}

static int read_status(struct span line, struct answer_head *head, bool *is_old) {
  const uint8_t *at = line.data;
  if (line.len < VERSION_BYTES + 1 + STATUS_DIGITS) return -EBADMSG;
  if (memcmp(at, "HTTP/1.", VERSION_BYTES - 1) != 0 || at[VERSION_BYTES] != ' ') return -EBADMSG;
  if (at[VERSION_BYTES - 1] != '0' && at[VERSION_BYTES - 1] != '1') return -EBADMSG;
  *is_old = at[VERSION_BYTES - 1] == '0';
  at += VERSION_BYTES + 1;
  for (int i = 0; i < STATUS_DIGITS; i++) {
    if (at[i] < '0' || at[i] > '9') return -EBADMSG;
    head->status = head->status * 10 + (at[i] - '0');
  }
  bool has_more = line.len > VERSION_BYTES + 1 + STATUS_DIGITS;
  return head->status < 100 || (has_more && at[STATUS_DIGITS] != ' ') ? -EBADMSG : 0;
}

static int read_length(struct span text, uint64_t *ret) {
  uint64_t value = 0;
  if (text.len == 0) return -EBADMSG;
  for (size_t i = 0; i < text.len; i++) {
    uint8_t digit = (uint8_t)(text.data[i] - '0');
    if (digit > 9 || value > (UINT64_MAX - digit) / 10) return -EBADMSG;
    value = value * 10 + digit;
  }
  *ret = value;
  return 0;
}

struct fields { /* the fields that determine the body and the connection */
  bool has_length, has_chunks, is_closing, is_kept;
  uint64_t length;
};

static int read_field(struct span line, struct fields *fields) {
  struct span name, value;
  uint64_t length;
  int error = split(line, &name, &value);
  if (error != 0) return error;
  if (is_word(name, "content-length")) {
    error = read_length(value, &length);
    if (error == 0 && fields->has_length && fields->length != length) error = -EBADMSG;
    fields->has_length = true;
    if (error == 0) fields->length = length;
  } else if (is_word(name, "transfer-encoding")) {
    if (fields->has_chunks || !is_word(value, "chunked")) error = -EBADMSG;
    fields->has_chunks = true;
  } else if (is_word(name, "connection")) {
    fields->is_closing |= is_word(value, "close");
    fields->is_kept |= is_word(value, "keep-alive");
  }
  return error;
}

static enum answer_framing framing_of(const struct answer_head *head, const struct fields *fields,
                                      bool was_head) {
  if (was_head || head->status < FIRST_OK || head->status == NO_CONTENT ||
      head->status == NOT_MODIFIED)
    return ANSWER_NO_BODY;
  if (fields->has_chunks) return ANSWER_BY_CHUNKS;
  return fields->has_length ? ANSWER_BY_LENGTH : ANSWER_BY_CLOSE;
}

/* Returns the length of the head with its empty line, or 0 if that has not arrived. */
static size_t find_end(struct span bytes) {
  for (size_t i = 1; i < bytes.len; i++) {
    if (bytes.data[i] != '\n') continue;
    if (bytes.data[i - 1] == '\n') return i + 1;
    if (i >= 2 && bytes.data[i - 1] == '\r' && bytes.data[i - 2] == '\n') return i + 1;
  }
  return 0;
}

int answer_head_decode(struct span bytes, bool was_head, struct answer_head *ret) {
  struct answer_head head = {0};
  struct fields fields = {0};
  struct span line;
  bool is_old = false;
  if (bytes.len > ANSWER_HEAD_BYTES_MAX) bytes.len = ANSWER_HEAD_BYTES_MAX;
  size_t len = find_end(bytes);
  if (len == 0) return bytes.len == ANSWER_HEAD_BYTES_MAX ? -EBADMSG : -EAGAIN;
  struct span rest = span_of(bytes.data, len);
  if (memchr(rest.data, '\0', rest.len) != NULL) return -EBADMSG;
  int error = take_line(&rest, &line) ? read_status(line, &head, &is_old) : -EBADMSG;
  while (error == 0 && take_line(&rest, &line) && line.len > 0) error = read_field(line, &fields);
  if (error == 0 && fields.has_length && fields.has_chunks) error = -EBADMSG;
  if (error != 0) return error;
  head.framing = framing_of(&head, &fields, was_head);
  head.length = fields.length;
  head.is_persistent =
      !fields.is_closing && (!is_old || fields.is_kept) && head.framing != ANSWER_BY_CLOSE;
  *ret = head;
  return (int)len;
}

bool answer_head_field(struct span head, const char *name, struct span *ret) {
  struct span line, field, value;
  if (!take_line(&head, &line)) return false; /* the status line */
  while (take_line(&head, &line) && line.len > 0) {
    if (split(line, &field, &value) != 0 || !is_word(field, name)) continue;
    *ret = value;
    return true;
  }
  return false;
}
