/* SPDX-License-Identifier: Apache-2.0 */
/* Request smuggling is possible if two parsers read the same bytes differently. So there is one
   parser, which accepts one spelling of each element, and any other input ends the connection:

     METHOD SP /path?query SP HTTP/1.x CRLF (Name ":" OWS value OWS CRLF)* CRLF

   The following are refused, because implementations are known to disagree about them: lines that
   end in a bare LF, a CR or NUL elsewhere, folded fields, a space before the colon, more or other
   white space in the request line; a body length that is repeated, listed, signed or not decimal;
   any Transfer-Encoding; a repeated Host or Authorization; an absolute or missing target.

   The head is parsed again from its start whenever bytes arrive: at most HEAD_BYTES_MAX each time,
   and without state. Other fields are checked for their form and skipped. */
#include "head_guard.h"

#include <errno.h>
#include <strings.h>

enum { CONTENT_LENGTH_DIGITS_MAX = 18 /* any 18 digits fit 64 bits */ };

static int fail(struct head_fault *fault, int status, const char *detail) {
  *fault = (struct head_fault){status, detail};
  return -EBADMSG;
}

static bool is_token_byte(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(struct span text) {
  for (size_t i = 0; i < text.len; i++)
    if (!is_token_byte(text.data[i])) return false;
  return text.len > 0;
}

static bool is_blank(uint8_t c) {
  return c == ' ' || c == '\t';
}

static struct span trim(struct span text) {
  while (text.len > 0 && is_blank(text.data[0])) text = span_of(text.data + 1, text.len - 1);
  while (text.len > 0 && is_blank(text.data[text.len - 1])) text.len--;
  return text;
}

static bool is_word(struct span text, const char *word) {
  return text.len == strlen(word) && strncasecmp((const char *)text.data, word, text.len) == 0;
}

static bool has_prefix(struct span text, const char *prefix) {
  size_t len = strlen(prefix);
  return text.len >= len && strncasecmp((const char *)text.data, prefix, len) == 0;
}

/* Cuts TEXT at the first SEPARATOR. Returns the part before it and leaves the part after it. */
static struct span cut(struct span *text, uint8_t separator) {
  const uint8_t *at = text->len ? memchr(text->data, separator, text->len) : NULL;
  if (at == NULL) {
    struct span all = *text;
    *text = span_of(text->data + text->len, 0);
    return all;
  }
  struct span before = span_of(text->data, (size_t)(at - text->data));
  *text = span_of(at + 1, text->len - before.len - 1);
  return before;
}

/* Cuts one line off RAW, without its CRLF. */
static int take_line(struct span *raw, struct span *ret, struct head_fault *fault) {
  const uint8_t *end = raw->len ? memchr(raw->data, '\n', raw->len) : NULL;
  size_t len = end ? (size_t)(end - raw->data) : raw->len;
  if (len > 0 && memchr(raw->data, '\0', len)) return fail(fault, 400, "the head has a NUL byte");
  if (end == NULL) return -EAGAIN;
  if (len == 0 || raw->data[len - 1] != '\r')
    return fail(fault, 400, "a line of the head ends in LF without CR");
  if (memchr(raw->data, '\r', len - 1)) return fail(fault, 400, "the head has a CR without LF");
  *ret = span_of(raw->data, len - 1);
  *raw = span_of(raw->data + len + 1, raw->len - len - 1);
  return 0;
}

static int parse_version(struct span version, struct http_head *head, struct head_fault *fault) {
  bool is_version = version.len == 8 && memcmp(version.data, "HTTP/", 5) == 0 &&
                    version.data[6] == '.' && version.data[5] >= '0' && version.data[5] <= '9' &&
                    version.data[7] >= '0' && version.data[7] <= '9';
  if (!is_version) return fail(fault, 400, "the request line does not end in a version of HTTP");
  if (version.data[5] != '1' || version.data[7] > '1')
    return fail(fault, 505, "only versions 1.0 and 1.1 of HTTP are spoken here");
  head->minor = (unsigned)(version.data[7] - '0');
  head->is_persistent = head->minor == 1;
  return 0;
}

static int parse_request_line(struct span line, struct http_head *head, struct head_fault *fault) {
  head->method = cut(&line, ' ');
  if (!is_token(head->method) || head->method.len > HEAD_METHOD_BYTES_MAX)
    return fail(fault, 400, "the request line does not start with a method");
  struct span target = cut(&line, ' ');
  if (target.len == 0 || target.data[0] != '/')
    return fail(fault, 400, "the target of the request is not a path that starts with /");
  for (size_t i = 0; i < target.len; i++)
    if (target.data[i] <= ' ' || target.data[i] > '~' || target.data[i] == '#')
      return fail(fault, 400, "the target of the request has a byte that must be %-escaped");
  head->path = cut(&target, '?');
  head->query = target;
  return parse_version(line, head, fault);
}

static int on_host(struct http_head *head, struct span value, struct head_fault *fault) {
  if (head->has_host) return fail(fault, 400, "Host is given twice");
  for (size_t i = 0; i < value.len; i++)
    if (!is_token_byte(value.data[i]) && strchr(":[]", value.data[i]) == NULL)
      return fail(fault, 400, "Host is not a name or address with a port");
  if (value.len == 0) return fail(fault, 400, "Host is empty");
  head->host = value;
  head->has_host = true;
  return 0;
}

static int on_content_length(struct http_head *head, struct span value, struct head_fault *fault) {
  if (head->has_length) return fail(fault, 400, "Content-Length is given twice");
  if (value.len == 0 || value.len > CONTENT_LENGTH_DIGITS_MAX)
    return fail(fault, 400, "Content-Length is not a number of bytes");
  uint64_t length = 0;
  for (size_t i = 0; i < value.len; i++) {
    if (value.data[i] < '0' || value.data[i] > '9')
      return fail(fault, 400, "Content-Length is not a number of bytes");
    length = length * 10 + (uint64_t)(value.data[i] - '0');
  }
  head->content_length = length;
  head->has_length = true;
  return 0;
}

static int on_transfer_encoding(struct http_head *head, struct span value,
                                struct head_fault *fault) {
  (void)head, (void)value;
  return fail(fault, 400, "Transfer-Encoding is not taken here: send Content-Length");
}

static int on_connection(struct http_head *head, struct span value, struct head_fault *fault) {
  (void)fault;
  while (value.len > 0)
    if (is_word(trim(cut(&value, ',')), "close")) head->is_persistent = false;
  return 0;
}

static int on_authorization(struct http_head *head, struct span value, struct head_fault *fault) {
  if (head->authorization.data) return fail(fault, 400, "Authorization is given twice");
  head->authorization = value;
  return 0;
}

static int on_expect(struct http_head *head, struct span value, struct head_fault *fault) {
  if (!is_word(value, "100-continue"))
    return fail(fault, 417, "the only expectation met here is 100-continue");
  head->expects_continue = true;
  return 0;
}

/* Returns whether WEIGHT is q=0, q=0.0 and so on: the peer does not accept the coding before it. */
static bool is_zero_weight(struct span weight) {
  if (!has_prefix(weight, "q=0")) return false;
  for (size_t i = 3; i < weight.len; i++)
    if (weight.data[i] != '0' && weight.data[i] != '.') return false;
  return true;
}

static int on_accept_encoding(struct http_head *head, struct span value, struct head_fault *fault) {
  (void)fault;
  while (value.len > 0) {
    struct span item = cut(&value, ',');
    struct span coding = trim(cut(&item, ';'));
    if (is_word(coding, "gzip")) head->accepts_gzip = !is_zero_weight(trim(item));
  }
  return 0;
}

static int on_accept(struct http_head *head, struct span value, struct head_fault *fault) {
  (void)fault;
  while (value.len > 0) {
    struct span item = cut(&value, ',');
    struct span type = trim(cut(&item, ';'));
    if (is_word(type, "application/openmetrics-text")) head->accepts_open_metrics = true;
  }
  return 0;
}

static int on_if_none_match(struct http_head *head, struct span value, struct head_fault *fault) {
  (void)fault;
  head->if_none_match = value;
  return 0;
}

/* If the field is repeated, the first counts: pages cannot set it, and programs have no reason
   to. */
static int on_origin(struct http_head *head, struct span value, struct head_fault *fault) {
  (void)fault;
  if (head->origin.len == 0) head->origin = value;
  return 0;
}

static int on_fetch_site(struct http_head *head, struct span value, struct head_fault *fault) {
  (void)fault;
  if (head->fetch_site.len == 0) head->fetch_site = value;
  return 0;
}

static int on_forwarding(struct http_head *head, struct span value, struct head_fault *fault) {
  (void)value, (void)fault;
  head->is_forwarded = true;
  return 0;
}

/* A name that ends in '*' matches every name with that prefix. */
static const struct {
  const char *name;
  int (*on)(struct http_head *head, struct span value, struct head_fault *fault);
} fields[] = {
    {"Host", on_host},
    {"Content-Length", on_content_length},
    {"Transfer-Encoding", on_transfer_encoding},
    {"Connection", on_connection},
    {"Authorization", on_authorization},
    {"Expect", on_expect},
    {"Accept", on_accept},
    {"Accept-Encoding", on_accept_encoding},
    {"If-None-Match", on_if_none_match},
    {"Origin", on_origin},
    {"Sec-Fetch-Site", on_fetch_site},
    {"Forwarded", on_forwarding},
    {"Via", on_forwarding},
    {"X-Real-IP", on_forwarding},
    {"CF-Connecting-IP", on_forwarding},
    {"True-Client-IP", on_forwarding},
    {"X-Client-IP", on_forwarding},
    {"X-Cluster-Client-IP", on_forwarding},
    {"X-Forwarded*", on_forwarding},
    {"X-Original-*", on_forwarding},
};

static bool is_named(struct span name, const char *pattern) {
  size_t len = strlen(pattern);
  if (pattern[len - 1] != '*') return is_word(name, pattern);
  return name.len >= len - 1 && strncasecmp((const char *)name.data, pattern, len - 1) == 0;
}

static int parse_field(struct span line, struct http_head *head, struct head_fault *fault) {
  if (is_blank(line.data[0])) return fail(fault, 400, "a field is folded over two lines");
  if (memchr(line.data, ':', line.len) == NULL) return fail(fault, 400, "a field has no colon");
  struct span name = cut(&line, ':');
  if (name.len > 0 && is_blank(name.data[name.len - 1]))
    return fail(fault, 400, "a field has a space before its colon");
  if (!is_token(name)) return fail(fault, 400, "a field's name has a byte that no name may have");
  struct span value = trim(line);
  for (size_t i = 0; i < value.len; i++)
    if ((value.data[i] < ' ' && value.data[i] != '\t') || value.data[i] == 0x7f)
      return fail(fault, 400, "a field's value has a control character");
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (is_named(name, fields[i].name)) return fields[i].on(head, value, fault);
  return 0;
}

static int parse_fields(struct span *rest, struct http_head *head, struct head_fault *fault) {
  for (unsigned count = 0;; count++) {
    struct span line;
    int error = take_line(rest, &line, fault);
    if (error) return error;
    if (line.len == 0) return 0;
    if (count == HEAD_FIELDS_MAX) return fail(fault, 400, "the head has more than 64 fields");
    error = parse_field(line, head, fault);
    if (error) return error;
  }
}

int head_guard_parse(struct span raw, struct http_head *ret, struct head_fault *fault) {
  struct http_head head = {0};
  bool is_long = raw.len > HEAD_BYTES_MAX;
  struct span rest = span_of(raw.data, is_long ? HEAD_BYTES_MAX : raw.len);
  const uint8_t *start = rest.data;
  struct span line;
  int error = take_line(&rest, &line, fault);
  if (error == 0) error = parse_request_line(line, &head, fault);
  if (error == 0) error = parse_fields(&rest, &head, fault);
  if (error == -EAGAIN && is_long) return fail(fault, 400, "the head is longer than 8 KiB");
  if (error) return error;
  if (head.minor == 1 && !head.has_host) return fail(fault, 400, "Host is missing");
  *ret = head;
  return (int)(rest.data - start);
}
