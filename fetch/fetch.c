/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests and receives their answers; answer_head and chunks do the parsing.

   evhttp's client is not used for three reasons. It connects only to the first address of a name
   (`localhost` is ::1 first, so a collector on 127.0.0.1 is not found). It does not read while it
   writes, so it sees the rejection of an upload only when the connection breaks. And it is one more
   library beside libevent's core.

   A rejected upload is not sent to its end: an answer that arrives while the body is sent ends the
   sending. If the connection breaks meanwhile, it is first read to its end, because the answer may
   have arrived before.

   A kept connection that the server has closed meanwhile is no failure: if nothing of an answer has
   arrived, the request is repeated once over a new one. All requests here are idempotent. */
#include "fetch.h"

#include "answer_head.h"
#include "chunks.h"
#include "common/clock.h"
#include "common/tls.h"
#include "line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_NS (10 * NS_PER_SECOND)

enum { PIECE_BYTES = 64 << 10, TOKEN_BYTES_MAX = 4096, INTERIM_MAX = 8, OK_END = 300 };

struct fetch {
  struct url url;
  char *token;
  SSL_CTX *tls; /* NULL: plain */
  struct line line;
  bool is_open;
  char why[FETCH_WHY_BYTES];
};

struct exchange {
  struct fetch *fetch;
  const struct fetch_call *call;
  struct fetch_answer *answer;
  struct answer_head head;
  struct buf in;       /* received and not used yet */
  uint64_t body_taken; /* of the answer */
  bool has_come;       /* any byte of an answer has arrived */
  bool is_enough;      /* a rejection's body is complete enough, though more may follow */
};

static int fail(struct fetch *fetch, int error, const char *why) {
  snprintf(fetch->why, sizeof fetch->why, "%s", why);
  return error;
}

static bool is_plain_text(const char *text) {
  for (; *text != '\0'; text++)
    if (*text <= 0x20 || *text >= 0x7f) return false;
  return true;
}

static int check(const struct fetch_server *server, char *why, size_t why_len) {
  if (server->token == NULL) return 0;
  if (*server->token == '\0' || strlen(server->token) > TOKEN_BYTES_MAX ||
      !is_plain_text(server->token)) {
    snprintf(why, why_len, "the token is empty, too long, or has characters that no token has");
    return -EBADMSG;
  }
  if (server->url.is_https || url_is_loopback(&server->url)) return 0;
  snprintf(why, why_len,
           "a token is not sent over http to another machine, where others can read "
           "it: use https, or an ssh tunnel");
  return -EPERM;
}

int fetch_open(const struct fetch_server *server, struct fetch **ret, char *why, size_t why_len) {
  int error = check(server, why, why_len);
  if (error != 0) return error;
  struct fetch *fetch = calloc(1, sizeof *fetch);
  if (fetch != NULL && server->token != NULL) fetch->token = strdup(server->token);
  if (fetch == NULL || (server->token != NULL && fetch->token == NULL)) {
    free(fetch);
    snprintf(why, why_len, "out of memory");
    return -ENOMEM;
  }
  fetch->url = server->url;
  fetch->line.fd = -1;
  if (server->url.is_https) {
    fetch->tls = tls_web_context(server->ca, why, why_len);
    if (fetch->tls == NULL) {
      fetch_close(fetch);
      return -EINVAL;
    }
  }
  *ret = fetch;
  return 0;
}

static void hang_up(struct fetch *fetch) {
  if (fetch->is_open) line_close(&fetch->line);
  fetch->is_open = false;
}

void fetch_close(struct fetch *fetch) {
  if (fetch == NULL) return;
  hang_up(fetch);
  if (fetch->token != NULL) OPENSSL_cleanse(fetch->token, strlen(fetch->token));
  free(fetch->token);
  SSL_CTX_free(fetch->tls);
  free(fetch);
}

const char *fetch_why(const struct fetch *fetch) {
  return fetch->why;
}

enum fetch_distrust fetch_distrust(const struct fetch *fetch) {
  switch (fetch->line.refused) {
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH:
    return FETCH_OTHER_NAME;
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_CERT_UNTRUSTED:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    return FETCH_UNKNOWN_ROOT;
  default:
    return FETCH_NO_DISTRUST;
  }
}

void fetch_answer_fini(struct fetch_answer *answer) {
  buf_fini(&answer->head);
  buf_fini(&answer->body);
  *answer = (struct fetch_answer){0};
}

int fetch_field(const struct fetch_answer *answer, const char *name, char *ret, size_t ret_len) {
  struct span value;
  if (!answer_head_field(buf_span(&answer->head), name, &value)) return -ENOENT;
  if (value.len >= ret_len) return -EOVERFLOW;
  memcpy(ret, value.data, value.len);
  ret[value.len] = '\0';
  return 0;
}

/* ---- sending ---- */

static void print_request(const struct exchange *exchange, struct buf *ret) {
  const struct fetch *fetch = exchange->fetch;
  const struct fetch_call *call = exchange->call;
  buf_printf(ret, "%s %s%s HTTP/1.1\r\nHost: ", call->method, fetch->url.path, call->target);
  url_print_host(&fetch->url, ret);
  buf_append_string(ret, "\r\nUser-Agent: fleetprof/" FLEETPROF_VERSION "\r\n");
  if (fetch->token != NULL) buf_printf(ret, "Authorization: Bearer %s\r\n", fetch->token);
  if (call->read_body != NULL)
    buf_printf(ret, "Content-Length: %" PRIu64 "\r\nContent-Type: application/octet-stream\r\n",
               call->body_len);
  buf_append_string(ret, "\r\n");
}

/* Receives available bytes (waits if IS_PATIENT). Returns their number, 0 at the end, -EAGAIN, or
   -errno. */
static long receive(struct exchange *exchange, bool is_patient) {
  struct fetch *fetch = exchange->fetch;
  uint8_t *at = buf_reserve(&exchange->in, PIECE_BYTES);
  if (at == NULL) return fail(fetch, -ENOMEM, "out of memory");
  long got = line_get(&fetch->line, at, PIECE_BYTES, is_patient);
  if (got > 0) {
    exchange->in.len += (size_t)got;
    exchange->has_come = true;
  } else if (got < 0 && got != -EAGAIN) {
    fail(fetch, (int)got, fetch->line.why);
  }
  return got;
}

/* Sends LEN bytes. Returns 0; 1 if the server has already answered, so that no more need be sent;
   or -errno. */
static int send_all(struct exchange *exchange, const uint8_t *data, size_t len) {
  struct fetch *fetch = exchange->fetch;
  while (len > 0) {
    long put = line_put(&fetch->line, data, len);
    if (put < 0) return fail(fetch, (int)put, fetch->line.why);
    data += put;
    len -= (size_t)put;
    if (put > 0) continue;
    long got = receive(exchange, false); /* TLS's own messages are no answer */
    if (got > 0) return 1;
    if (got == 0) return fail(fetch, -ECONNRESET, "the server has ended the connection");
    if (got != -EAGAIN) return (int)got;
  }
  return 0;
}

static int send_body(struct exchange *exchange) {
  const struct fetch_call *call = exchange->call;
  uint8_t piece[PIECE_BYTES];
  for (uint64_t sent = 0; sent < call->body_len;) {
    uint64_t left = call->body_len - sent;
    size_t room = left < sizeof piece ? (size_t)left : sizeof piece;
    long got = call->read_body(call->context, sent, piece, room);
    if (got <= 0 || (uint64_t)got > room)
      return fail(exchange->fetch, -ECANCELED, "what is to be sent cannot be read");
    int error = send_all(exchange, piece, (size_t)got);
    if (error != 0) return error;
    sent += (uint64_t)got;
    if (call->on_progress != NULL) call->on_progress(call->context, sent, call->body_len);
  }
  return 0;
}

/* ---- receiving ---- */

static void drop(struct buf *in, size_t len) {
  memmove(in->data, in->data + len, in->len - len);
  in->len -= len;
}

static void keep_type(struct fetch_answer *answer) {
  if (fetch_field(answer, "Content-Type", answer->type, sizeof answer->type) != 0)
    answer->type[0] = '\0';
  answer->type[strcspn(answer->type, "; \t")] = '\0';
}

/* Reads one head of any status. */
static int read_one_head(struct exchange *exchange) {
  struct fetch *fetch = exchange->fetch;
  bool was_head = strcmp(exchange->call->method, "HEAD") == 0;
  for (;;) {
    int len = answer_head_decode(buf_span(&exchange->in), was_head, &exchange->head);
    if (len > 0) {
      buf_clear(&exchange->answer->head);
      buf_append(&exchange->answer->head, exchange->in.data, (size_t)len);
      drop(&exchange->in, (size_t)len);
      return exchange->answer->head.failed ? fail(fetch, -ENOMEM, "out of memory") : 0;
    }
    if (len != -EAGAIN) return fail(fetch, -EBADMSG, "the answer is not HTTP");
    long got = receive(exchange, true);
    if (got < 0) return (int)got;
    if (got == 0)
      return fail(fetch, -ECONNRESET, "the server has ended the connection without an answer");
  }
}

/* Reads the head of the answer; interim ones (100 and the like) come before it. */
static int read_head(struct exchange *exchange) {
  for (int i = 0; i < INTERIM_MAX; i++) {
    int error = read_one_head(exchange);
    if (error != 0) return error;
    if (exchange->head.status < 200) continue;
    exchange->answer->status = exchange->head.status;
    exchange->answer->length = exchange->head.length;
    keep_type(exchange->answer);
    return 0;
  }
  return fail(exchange->fetch, -EBADMSG, "the answer is not HTTP");
}

/* A caller that stores a file's bytes must not get the text of an error, of any length. */
static int keep_refusal(struct exchange *exchange, struct span piece) {
  struct buf *body = &exchange->answer->body;
  uint64_t room = FETCH_REFUSAL_BYTES_MAX - body->len;
  exchange->is_enough = piece.len > room;
  buf_append(body, piece.data, exchange->is_enough ? (size_t)room : piece.len);
  return body->failed ? fail(exchange->fetch, -ENOMEM, "out of memory") : 0;
}

static int take_piece(struct exchange *exchange, struct span piece) {
  const struct fetch_call *call = exchange->call;
  struct buf *body = &exchange->answer->body;
  uint64_t max = call->answer_bytes_max > 0 ? call->answer_bytes_max : FETCH_ANSWER_BYTES_MAX;
  if (piece.len > max - exchange->body_taken)
    return fail(exchange->fetch, -EOVERFLOW, "the answer is longer than expected");
  exchange->body_taken += piece.len;
  if (call->on_piece != NULL && exchange->head.status >= OK_END)
    return keep_refusal(exchange, piece);
  if (call->on_piece != NULL)
    return call->on_piece(call->context, piece) == 0
               ? 0
               : fail(exchange->fetch, -ECANCELED, "what is received cannot be kept");
  buf_append(body, piece.data, piece.len);
  return body->failed ? fail(exchange->fetch, -ENOMEM, "out of memory") : 0;
}

/* Takes the received part of the body. Returns 1 if the body is complete, 0 if more is to come, or
   -errno. */
static int take_body(struct exchange *exchange, struct chunks *chunks) {
  struct span rest = buf_span(&exchange->in), piece;
  int more = 0, error = 0;
  if (exchange->head.framing == ANSWER_BY_CHUNKS) {
    while (error == 0 && !exchange->is_enough && (more = chunks_next(chunks, &rest, &piece)) == 1)
      error = take_piece(exchange, piece);
    if (more == -EBADMSG) error = fail(exchange->fetch, -EBADMSG, "the answer's chunks are broken");
  } else {
    uint64_t left = exchange->head.framing == ANSWER_BY_LENGTH
                        ? exchange->head.length - exchange->body_taken
                        : UINT64_MAX;
    span_take(&rest, left < rest.len ? (size_t)left : rest.len, &piece);
    error = take_piece(exchange, piece);
    more = piece.len == left ? 0 : -EAGAIN;
  }
  drop(&exchange->in, exchange->in.len - rest.len);
  return error != 0 ? error : more == 0;
}

static int read_body(struct exchange *exchange) {
  struct chunks chunks = {0};
  if (exchange->head.framing == ANSWER_NO_BODY) return 0;
  for (;;) {
    int is_whole = take_body(exchange, &chunks);
    if (is_whole != 0) return is_whole < 0 ? is_whole : 0;
    if (exchange->is_enough) return 0;
    long got = receive(exchange, true);
    if (got < 0) return (int)got;
    if (got > 0) continue;
    if (exchange->head.framing == ANSWER_BY_CLOSE) return 0;
    return fail(exchange->fetch, -ECONNRESET, "the server has ended the connection in mid-answer");
  }
}

/* ---- a call ---- */

static int exchange_once(struct exchange *exchange) {
  struct buf request = {0};
  print_request(exchange, &request);
  int error = request.failed ? fail(exchange->fetch, -ENOMEM, "out of memory")
                             : send_all(exchange, request.data, request.len);
  buf_fini(&request);
  if (error == 0 && exchange->call->read_body != NULL) error = send_body(exchange);
  bool was_cut = error != 0;
  bool is_broken = error == -EPIPE || error == -ECONNRESET || error == -EPROTO;
  char why[FETCH_WHY_BYTES];
  memcpy(why, exchange->fetch->why, sizeof why);
  if (error < 0 && !is_broken) return error;
  int answered = read_head(exchange);
  if (answered == 0) answered = read_body(exchange);
  if (answered != 0 && is_broken && !exchange->has_come) return fail(exchange->fetch, error, why);
  if (was_cut || exchange->is_enough || !exchange->head.is_persistent || exchange->in.len > 0)
    hang_up(exchange->fetch);
  return answered;
}

/* Connects if necessary. Returns 0, 1 if the connection was used before, or -errno. */
static int connect_if_needed(struct fetch *fetch, const struct fetch_call *call) {
  uint64_t now_ns = clock_monotonic_ns();
  struct line *line = &fetch->line;
  line->patience_ns = (call->idle_ms > 0 ? call->idle_ms : FETCH_IDLE_MS) * NS_PER_MS;
  line->until_ns = call->total_ms > 0 ? now_ns + call->total_ms * NS_PER_MS : 0;
  if (fetch->is_open) return 1;
  uint64_t patience_ns = line->patience_ns;
  if (patience_ns > CONNECT_NS) line->patience_ns = CONNECT_NS;
  int error = line_open(line, &fetch->url.at, fetch->tls, true);
  line->patience_ns = patience_ns;
  if (error != 0) return fail(fetch, error, line->why);
  fetch->is_open = true;
  return 0;
}

int fetch_call(struct fetch *fetch, const struct fetch_call *call, struct fetch_answer *ret) {
  for (;;) {
    struct exchange exchange = {.fetch = fetch, .call = call, .answer = ret};
    *ret = (struct fetch_answer){0};
    int was_used = connect_if_needed(fetch, call);
    if (was_used < 0) return was_used;
    int error = exchange_once(&exchange);
    buf_fini(&exchange.in);
    if (error == 0) return 0;
    hang_up(fetch);
    fetch_answer_fini(ret);
    bool is_again = was_used == 1 && !exchange.has_come &&
                    (error == -EPIPE || error == -ECONNRESET || error == -EPROTO);
    if (!is_again) return error;
  }
}
