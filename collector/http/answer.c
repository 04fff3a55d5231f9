/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the head of every answer, so that each has the same protection. The page runs only its own
   script and must not be framed. Browsers must not guess types or cache fleet data. There is no
   Server field: the version is on /metrics, which needs a token.

   Compression uses a low zlib level. It is skipped for small answers, because on loopback it only
   costs time. A function table shrinks to a tenth at any level. */
#include "answer.h"

#include "common/json.h"
#include "view/gzip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  DETAIL_BYTES = 512,
  COMPRESS_FROM_BYTES = 4096, /* smaller answers fit into three packets uncompressed */
  COMPRESS_LEVEL = 3,
};

static void drop_file(struct answer *answer) {
  if (answer->file.is_given) close(answer->file.fd);
  answer->file = (struct answer_file){0};
}

void answer_fini(struct answer *answer) {
  drop_file(answer);
  buf_fini(&answer->body);
}

void answer_take_file(struct answer *answer, int fd, uint64_t offset, uint64_t bytes) {
  drop_file(answer);
  answer->file = (struct answer_file){true, fd, offset, bytes};
}

/* Returns the reason phrase of STATUS. */
static const char *status_text(int status) {
  static const struct {
    int status;
    const char *text;
  } texts[] = {
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {302, "Found"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Content"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
  };
  if (status == 0) status = 200;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].status == status) return texts[i].text;
  return "Unknown";
}

/* Ends a truncated TEXT at a word boundary, with an ellipsis. */
static void cut(char text[DETAIL_BYTES]) {
  static const char more[] = " ...";
  size_t len = DETAIL_BYTES - sizeof more;
  while (len > 0 && text[len] != ' ') len--;
  if (len == 0) len = DETAIL_BYTES - sizeof more; /* a single long word */
  memcpy(text + len, more, sizeof more);
}

void answer_problem(struct answer *answer, int status, const char *parameter, const char *format,
                    ...) {
  char detail[DETAIL_BYTES];
  va_list args;
  va_start(args, format);
  int len = vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  if (len >= (int)sizeof detail) cut(detail);
  buf_clear(&answer->body);
  drop_file(answer);
  answer->status = status;
  answer->type = "application/problem+json";
  answer->may_be_kept = false;
  answer->is_gzip = false;
  answer->fields[0] = '\0';
  struct json json;
  json_init(&json, &answer->body, ANSWER_BYTES_MAX);
  json_open(&json, '{');
  json_key_string(&json, "type", "about:blank");
  json_key_string(&json, "title", status_text(status));
  json_key_uint(&json, "status", (uint64_t)status);
  json_key_string(&json, "detail", detail);
  if (parameter) json_key_string(&json, "parameter", parameter);
  json_close(&json, '}');
  buf_append_byte(&answer->body, '\n');
}

void answer_store_problem(struct answer *answer, int error) {
  switch (error) {
  case -ESTALE:
    answer_problem(answer, 503, NULL,
                   "landing.db is gone, cut or replaced while the collector runs: end the "
                   "collector, put the file back, start again");
    return;
  case -EIO:
  case -EROFS:
  case -ENOSPC:
  case -EDQUOT:
    answer_problem(answer, 503, NULL,
                   "the collector's disk fails: %s: what this asks for cannot be read meanwhile; "
                   "/readyz says more",
                   strerror(-error));
    return;
  default:
    answer_problem(answer, 500, NULL, "the store did not answer: %s", strerror(-error));
  }
}

void answer_add_field(struct answer *answer, const char *name, const char *value) {
  size_t len = strlen(answer->fields);
  size_t room = sizeof answer->fields - len;
  int wanted = snprintf(answer->fields + len, room, "%s: %s\r\n", name, value);
  if (wanted < 0 || (size_t)wanted >= room) answer->fields[len] = '\0';
}

void answer_begin_json(struct answer *answer, struct json *json) {
  answer->type = "application/json";
  json_init(json, &answer->body, ANSWER_BYTES_MAX);
  json_open(json, '{');
}

void answer_end_json(struct answer *answer, const struct json *json) {
  struct json last = *json;
  json_close(&last, '}');
  buf_append_byte(&answer->body, '\n');
  if (answer->body.failed)
    answer_problem(answer, 422, NULL,
                   "limit memory: there is not enough of it to write this answer down: ask for "
                   "fewer rows or a narrower match");
  else if (last.is_full)
    answer_problem(answer, 422, "limit",
                   "limit bytes: the answer is larger than %zu MiB: ask for fewer rows or a "
                   "narrower match",
                   ANSWER_BYTES_MAX >> 20);
}

void answer_compress(struct answer *answer, const struct cutoff *cutoff) {
  if (answer->body.len < COMPRESS_FROM_BYTES || answer->is_gzip) return;
  struct buf packed = {0};
  if (gzip(buf_span(&answer->body), COMPRESS_LEVEL, cutoff, &packed) != 0) {
    buf_fini(&packed);
    return;
  }
  buf_fini(&answer->body);
  answer->body = packed;
  answer->is_gzip = true;
}

static void print_date(struct buf *ret) {
  time_t now = time(NULL);
  struct tm utc;
  char text[40];
  gmtime_r(&now, &utc);
  strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  buf_printf(ret, "Date: %s\r\n", text);
}

void answer_print_head(const struct answer *answer, uint64_t body_len, bool is_persistent,
                       struct buf *ret) {
  int status = answer->status ? answer->status : 200;
  buf_printf(ret, "HTTP/1.1 %d %s\r\n", status, status_text(status));
  print_date(ret);
  if (answer->type) buf_printf(ret, "Content-Type: %s\r\n", answer->type);
  if (status != 304) buf_printf(ret, "Content-Length: %" PRIu64 "\r\n", body_len);
  if (answer->is_gzip) buf_append_string(ret, "Content-Encoding: gzip\r\n");
  buf_append_string(ret, is_persistent ? "Connection: keep-alive\r\n" : "Connection: close\r\n");
  buf_append_string(ret, answer->may_be_kept ? "Cache-Control: no-cache\r\n"
                                             : "Cache-Control: no-store\r\n");
  buf_append_string(ret, "Vary: Accept, Accept-Encoding, Authorization\r\n"
                         "Content-Security-Policy: default-src 'none'; script-src 'self'; "
                         "style-src 'self'; img-src 'self'; connect-src 'self'; "
                         "require-trusted-types-for 'script'; frame-ancestors 'none'; "
                         "base-uri 'none'; form-action 'self'\r\n"
                         "X-Content-Type-Options: nosniff\r\n"
                         "X-Frame-Options: DENY\r\n"
                         "Referrer-Policy: no-referrer\r\n"
                         "Cross-Origin-Resource-Policy: same-origin\r\n");
  buf_append_string(ret, answer->fields);
  buf_append_string(ret, "\r\n");
}
