/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O layer around a session.

   It moves bytes from libevent's buffer into session_receive and from the session's `out` to
   libevent, and jobs to the dispatch. The memory that a peer can occupy is bounded three times.
   First, the input buffer holds one control frame (a high watermark stops libevent from reading
   more). Second, a long frame raises that to its own length, once the budget shared by all
   connections has room. Third, a peer that does not read its answers is disconnected when
   OUTPUT_BYTES_MAX of them wait.

   If a queue or that budget is full, the connection is stalled: it takes no more bytes out of the
   buffer, and TCP flow control holds the peer. connection_resume is called when there is room.

   One timer holds the state's deadline. It is restarted by each whole frame; a frame that has begun
   must end in time. The deadline does not count while the collector keeps the peer waiting.

   Closing is graceful: pending output is flushed, then the sending side is shut down, and further
   input is discarded for a few seconds. Closing with unread bytes would reset the connection and
   could destroy the reason before the peer has read it. */
#include "connection.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/tls.h"
#include "dispatch.h"
#include "identity/certificate.h"
#include "revocations.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  INPUT_BYTES = FRAME_HEADER_BYTES + LIMIT_CONTROL_BYTES,
  LARGE_BYTES_MAX = 256 << 20, /* of long frames being received, over all connections */
  OUTPUT_BYTES_MAX = 256 << 10,
  FRAME_DEADLINE_MS = 60 * 1000, /* for a frame that has begun: 2 MiB at 280 kbit/s */
  WHY_BYTES = 192,
  PEER_BYTES = 64, /* a numeric address */
};

struct connection {
  struct connection_host *host;
  struct bufferevent *stream;
  struct event *deadline;
  struct session session;
  size_t large_bytes; /* of the host's large_bytes */
  bool is_stalled;
  bool is_in_frame; /* the deadline is of a frame that has begun */
  bool is_shut;     /* the sending side is shut down */
  bool has_expired; /* the certificate has expired but is otherwise valid */
};

static SSL *tls_of(const struct connection *connection) {
  return bufferevent_openssl_get_ssl(connection->stream);
}

static struct evbuffer *input_of(const struct connection *connection) {
  return bufferevent_get_input(connection->stream);
}

static void arm(struct connection *connection, unsigned ms) {
  struct timeval delay = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
  event_add(connection->deadline, &delay);
}

static void set_stalled(struct connection *connection, bool is_stalled) {
  if (connection->is_stalled == is_stalled) return;
  connection->is_stalled = is_stalled;
  if (is_stalled) {
    connection->host->stalled_count++;
    figures_add(&connection->host->figures->stalls_total, 1);
  } else {
    connection->host->stalled_count--;
  }
}

/* Returns a long frame's bytes to the budget. */
static void release_large(struct connection *connection) {
  if (connection->large_bytes == 0) return;
  connection->host->large_bytes -= connection->large_bytes;
  connection->large_bytes = 0;
  bufferevent_setwatermark(connection->stream, EV_READ, 0, INPUT_BYTES);
}

/* Lets the input buffer hold LEN bytes. Returns false if the budget for long frames is used up. */
static bool reserve(struct connection *connection, size_t len) {
  if (len <= INPUT_BYTES || connection->large_bytes >= len) return true;
  if (connection->host->large_bytes + len > LARGE_BYTES_MAX) return false;
  connection->host->large_bytes += len;
  connection->large_bytes = len;
  bufferevent_setwatermark(connection->stream, EV_READ, 0, len);
  return true;
}

static void destroy(struct connection *connection) {
  set_stalled(connection, false);
  connection->host->large_bytes -= connection->large_bytes;
  session_fini(&connection->session);
  if (connection->deadline != NULL) event_free(connection->deadline);
  if (connection->stream != NULL) bufferevent_free(connection->stream);
  free(connection);
}

static void close_now(struct connection *connection) {
  connection->host->on_closed(connection->host->context, connection);
  destroy(connection);
}

/* Passes the session's output to libevent. */
static void flush(struct connection *connection) {
  struct session *session = &connection->session;
  struct evbuffer *output = bufferevent_get_output(connection->stream);
  if (session->out.len > 0)
    bufferevent_write(connection->stream, session->out.data, session->out.len);
  buf_clear(&session->out);
  if (evbuffer_get_length(output) <= OUTPUT_BYTES_MAX || session->state == SESSION_CLOSING) return;
  session_refuse(session, REFUSAL_SLOW_READER, "answers are not read");
}

/* All output is sent: shuts down the sending side, then waits, within the deadline, for the peer to
   close. */
static void shut(struct connection *connection) {
  if (connection->is_shut) return;
  connection->is_shut = true;
  SSL_shutdown(tls_of(connection));
  ERR_clear_error();
  shutdown(bufferevent_getfd(connection->stream), SHUT_WR);
}

/* Reports a rejected peer by its board's name or, if it is unauthenticated, by its address. */
static void tell_denied(struct connection *connection, const char *why) {
  struct sockaddr_storage peer;
  socklen_t len = sizeof peer;
  char text[PEER_BYTES] = "a stranger";
  const char *board = connection->session.board;
  int fd = bufferevent_getfd(connection->stream);
  if (board[0] == 0 && getpeername(fd, (struct sockaddr *)&peer, &len) == 0)
    getnameinfo((struct sockaddr *)&peer, len, text, sizeof text, NULL, 0, NI_NUMERICHOST);
  connection->host->on_denied(connection->host->context, board[0] != 0 ? board : text, why);
}

/* Returns whether a session that ended with REFUSAL was denied access, rather than failed, and was
   not reported by a worker already. */
static bool is_denial(const struct session *session) {
  switch (session->refusal) {
  case REFUSAL_BAD_FRAME:
  case REFUSAL_FRAME_TOO_LONG:
  case REFUSAL_BAD_MESSAGE:
  case REFUSAL_WRONG_ORDER:
  case REFUSAL_WRONG_VERSION:
    return session->board[0] == 0; /* from a board, a malformed message is a fault, not an attack */
  case REFUSAL_BAD_NAME:
  case REFUSAL_REVOKED:
  case REFUSAL_EXPIRED:
  case REFUSAL_OUTLIVED:
    return true;
  default:
    return false;
  }
}

/* Acts on a change of state: flushes the output, sets the new deadline, starts closing. */
static void settle(struct connection *connection, enum session_state before) {
  struct session *session = &connection->session;
  flush(connection);
  if (session->state != before) {
    if (session->was_refused && is_denial(session)) tell_denied(connection, session->why);
    connection->is_in_frame = false;
    arm(connection, session_deadline_ms(session->state));
  }
  if (session->state != SESSION_CLOSING) return;
  set_stalled(connection, false);
  evbuffer_drain(input_of(connection), evbuffer_get_length(input_of(connection)));
  release_large(connection);
  if (connection_is_flushed(connection)) shut(connection);
}

void connection_look_at_load(struct connection_host *host) {
  host->shedding.now.queue_entries = figures_get(&host->figures->queue_entries);
  host->shedding.now.queue_bytes = figures_get(&host->figures->queue_bytes);
  if (shedding_look(&host->shedding, clock_monotonic_ns())) host->on_shedding(host->context);
}

/* Returns whether the dispatch has room for the frame at the start of the input. */
static bool has_room(const struct connection *connection) {
  const struct dispatch *dispatch = connection->host->dispatch; /* NULL at shutdown */
  uint8_t header[FRAME_HEADER_BYTES] = {0};
  evbuffer_copyout(input_of(connection), header, sizeof header);
  return dispatch != NULL && dispatch_has_room(dispatch, header[FRAME_HEADER_BYTES - 1]);
}

/* Takes one frame out of the input. Returns whether there may be another. */
static bool take_frame(struct connection *connection) {
  struct session *session = &connection->session;
  struct evbuffer *input = input_of(connection);
  struct job *job = NULL;
  size_t need = session->need_bytes;
  bool is_stalled = !has_room(connection) || !reserve(connection, need);
  set_stalled(connection, is_stalled);
  if (is_stalled) return false;
  if (evbuffer_get_length(input) < need) return false;
  const uint8_t *bytes = evbuffer_pullup(input, (ev_ssize_t)need);
  if (bytes == NULL) {
    session_refuse(session, REFUSAL_MEMORY, "the collector is out of memory");
    return false;
  }
  connection_look_at_load(connection->host);
  long used = session_receive(session, span_of(bytes, need), clock_judged_ns(), &job);
  if (used > 0) {
    evbuffer_drain(input, (size_t)used);
    release_large(connection);
    connection->is_in_frame = false;
    arm(connection, session_deadline_ms(session->state));
  }
  if (job != NULL) dispatch_submit(connection->host->dispatch, job);
  return used >= 0;
}

/* Passes received frames to the session while it accepts input. */
static void pump(struct connection *connection) {
  struct session *session = &connection->session;
  enum session_state before = session->state;
  while (session_wants_input(session) && take_frame(connection)) flush(connection);
  bool has_begun = evbuffer_get_length(input_of(connection)) > 0 && session_wants_input(session) &&
                   !connection->is_stalled;
  if (has_begun && !connection->is_in_frame && session->state == SESSION_OPEN) {
    connection->is_in_frame = true;
    arm(connection, FRAME_DEADLINE_MS);
  }
  settle(connection, before);
}

static void on_read(struct bufferevent *stream, void *context) {
  struct connection *connection = context;
  (void)stream;
  if (connection->session.state == SESSION_CLOSING)
    evbuffer_drain(input_of(connection), evbuffer_get_length(input_of(connection)));
  else
    pump(connection);
}

static void on_written(struct bufferevent *stream, void *context) {
  struct connection *connection = context;
  (void)stream;
  if (connection->session.state == SESSION_CLOSING) shut(connection);
}

static enum handshake judge_failure(const SSL *ssl, bool is_eof) {
  switch (SSL_get_verify_result(ssl)) {
  case X509_V_OK:
    return is_eof ? HANDSHAKE_CLOSED : HANDSHAKE_PROTOCOL;
  case X509_V_ERR_CERT_HAS_EXPIRED:
    return HANDSHAKE_EXPIRED;
  case X509_V_ERR_CERT_REVOKED:
    return HANDSHAKE_REVOKED;
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    return HANDSHAKE_UNKNOWN_CA;
  default:
    return HANDSHAKE_BAD_CERTIFICATE;
  }
}

static bool is_about_certificate(enum handshake result) {
  return result == HANDSHAKE_EXPIRED || result == HANDSHAKE_UNKNOWN_CA ||
         result == HANDSHAKE_REVOKED || result == HANDSHAKE_BAD_CERTIFICATE;
}

static void count_failure(struct connection *connection, bool is_eof) {
  char why[WHY_BYTES] = "";
  enum handshake result = judge_failure(tls_of(connection), is_eof);
  tls_failure(tls_of(connection), why, sizeof why);
  figures_add(&connection->host->figures->handshakes[result], 1);
  if (is_about_certificate(result)) tell_denied(connection, why);
  log_debug("ingest-handshake #%llu: failed: %s", (unsigned long long)connection->session.id, why);
}

/* Returns TIME in seconds since 1970, or 0 if it is invalid. */
static int64_t seconds_of(const ASN1_TIME *time) {
  struct tm broken_down;
  return ASN1_TIME_to_tm(time, &broken_down) == 1 ? (int64_t)timegm(&broken_down) : 0;
}

static void look_at_certificate(struct connection *connection) {
  struct shown_certificate *shown = &connection->session.certificate;
  X509 *certificate = SSL_get0_peer_certificate(tls_of(connection));
  STACK_OF(X509) *chain = SSL_get0_verified_chain(tls_of(connection));
  if (certificate == NULL) return;
  shown->has_expired = connection->has_expired;
  if (sk_X509_num(chain) > 0)
    shown->root = certificate_id(sk_X509_value(chain, sk_X509_num(chain) - 1));
  shown->signed_s = certificate_signed_s(certificate);
  shown->id = certificate_id(certificate);
  shown->until_s = seconds_of(X509_get0_notAfter(certificate));
  /* Costs an eighth of a handshake, so computed only if needed. */
  EVP_PKEY *key = shown->has_expired ? X509_get0_pubkey(certificate) : NULL;
  if (key != NULL) certificate_key_digest(key, shown->key); /* on failure no key is equal */
}

static enum handshake judge_success(const struct connection *connection, bool is_stranger) {
  if (connection->has_expired) return HANDSHAKE_EXPIRED;
  return is_stranger ? HANDSHAKE_ANONYMOUS : HANDSHAKE_OK;
}

/* TLS is established: takes the board's name from the certificate. */
static void identify(struct connection *connection) {
  struct figures *figures = connection->host->figures;
  char name[BOARD_NAME_BYTES] = "";
  int result = tls_peer_name(tls_of(connection), name, sizeof name);
  bool is_stranger = result == -ENOENT;
  figures_add(&figures->handshakes[judge_success(connection, is_stranger)], 1);
  look_at_certificate(connection);
  session_start(&connection->session, is_stranger ? NULL : name);
  if (!is_stranger && (result != 0 || !board_name_is_valid(name)))
    session_refuse(&connection->session, REFUSAL_BAD_NAME,
                   "the certificate does not carry a board's name");
  connection->host->on_identified(connection->host->context, connection);
  settle(connection, SESSION_HANDSHAKE);
}

static void on_event(struct bufferevent *stream, short what, void *context) {
  struct connection *connection = context;
  (void)stream;
  if ((what & BEV_EVENT_CONNECTED) != 0) {
    identify(connection);
    return;
  }
  if (connection->session.state == SESSION_HANDSHAKE)
    count_failure(connection, (what & BEV_EVENT_EOF) != 0);
  close_now(connection);
}

static void on_deadline(evutil_socket_t fd, short what, void *context) {
  struct connection *connection = context;
  struct session *session = &connection->session;
  enum session_state before = session->state;
  (void)fd, (void)what;
  bool is_ours = connection->is_stalled || session->jobs_in_flight > 0;
  if (before == SESSION_HANDSHAKE) {
    figures_add(&connection->host->figures->handshakes[HANDSHAKE_TIMEOUT], 1);
    close_now(connection);
  } else if (before == SESSION_CLOSING) {
    close_now(connection);
  } else if (is_ours) { /* the peer waits for the collector */
    connection->is_in_frame = false;
    arm(connection, session_deadline_ms(before));
  } else {
    session_refuse(session, REFUSAL_TIMEOUT, "nothing whole came in time");
    settle(connection, before);
  }
}

/* Returns whether the only fault is that the board's own certificate has expired. OpenSSL calls
   on_verify once for each fault, so no other fault is accepted with it. */
static bool is_only_expired(X509_STORE_CTX *store) {
  return X509_STORE_CTX_get_error(store) == X509_V_ERR_CERT_HAS_EXPIRED &&
         X509_STORE_CTX_get_error_depth(store) == 0;
}

/* Runs after common/tls has verified the certificate. It rejects revoked boards, and accepts two
   faults: an expired certificate, whose session may then only renew; and a certificate that is not
   yet valid. The collector's own root has signed that one, so the collector's clock is wrong, or
   was. */
static int on_verify(int is_ok, X509_STORE_CTX *store) {
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  SSL_verify_cb judge = SSL_CTX_get_verify_callback(SSL_get_SSL_CTX(ssl));
  struct connection *connection = SSL_get_app_data(ssl);
  const struct connection_host *host = connection->host;
  char name[BOARD_NAME_BYTES] = "";
  if (judge != NULL) is_ok = judge(is_ok, store);
  if (!is_ok && is_only_expired(store)) {
    connection->has_expired = true;
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
  }
  if (!is_ok && X509_STORE_CTX_get_error(store) == X509_V_ERR_CERT_NOT_YET_VALID) {
    X509_STORE_CTX_set_error(store, X509_V_OK);
    is_ok = 1;
  }
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  if (!is_ok || certificate == NULL || X509_STORE_CTX_get_error_depth(store) != 0) return is_ok;
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  if (!revocations_has(host->revocations, name)) return is_ok;
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED);
  return 0;
}

static struct bufferevent *make_stream(struct connection *connection, int fd) {
  const struct connection_host *host = connection->host;
  SSL *ssl = SSL_new(host->tls);
  if (ssl == NULL) return NULL;
  SSL_set_app_data(ssl, connection);
  SSL_set_verify(ssl, SSL_get_verify_mode(ssl), on_verify);
  /* Boards may agree that the wall clock is wrong. */
  X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), (time_t)(clock_judged_ns() / NS_PER_SECOND));
  /* If this fails, libevent may have freed SSL already. Out of memory, a leak is better than a
     double free. */
  return bufferevent_openssl_socket_new(host->loop, fd, ssl, BUFFEREVENT_SSL_ACCEPTING,
                                        BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
}

struct connection *connection_new_take(struct connection_host *host, int fd, uint64_t id) {
  int on = 1;
  struct connection *connection = calloc(1, sizeof *connection);
  if (connection != NULL) connection->host = host;
  struct bufferevent *stream = connection ? make_stream(connection, fd) : NULL;
  if (stream == NULL) {
    free(connection);
    close(fd);
    return NULL;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* acks are small and awaited */
  connection->stream = stream;
  session_init(&connection->session, id, host->page_url, host->figures);
  connection->session.trust = &host->trust;
  connection->session.return_within_ms = &host->return_within_ms;
  connection->session.shedding = &host->shedding;
  connection->session.quotas = host->quotas;
  connection->session.time = host->time;
  connection->deadline = evtimer_new(host->loop, on_deadline, connection);
  if (connection->deadline == NULL) {
    destroy(connection);
    return NULL;
  }
  bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
  bufferevent_setcb(stream, on_read, on_written, on_event, connection);
  bufferevent_setwatermark(stream, EV_READ, 0, INPUT_BYTES);
  bufferevent_enable(stream, EV_READ | EV_WRITE);
  arm(connection, session_deadline_ms(SESSION_HANDSHAKE));
  return connection;
}

void connection_free(struct connection *connection) {
  if (connection != NULL) destroy(connection);
}

uint64_t connection_id(const struct connection *connection) {
  return connection->session.id;
}

const char *connection_board(const struct connection *connection) {
  return connection->session.board;
}

const struct shown_certificate *connection_certificate(const struct connection *connection) {
  return &connection->session.certificate;
}

void connection_finish(struct connection *connection, struct job *job) {
  enum session_state before = connection->session.state;
  session_finish(&connection->session, job, clock_judged_ns());
  settle(connection, before);
  if (connection->session.state != SESSION_CLOSING) pump(connection);
}

void connection_resume(struct connection *connection) {
  if (connection->is_stalled) pump(connection);
}

bool connection_refuse(struct connection *connection, enum refusal refusal, const char *why) {
  enum session_state before = connection->session.state;
  session_refuse(&connection->session, refusal, why);
  settle(connection, before);
  return before != SESSION_CLOSING;
}

void connection_evict_half_open(struct connection *connection) {
  if (connection->session.state != SESSION_HANDSHAKE) return;
  figures_add(&connection->host->figures->handshakes[HANDSHAKE_CROWDED], 1);
  close_now(connection);
}

bool connection_is_flushed(const struct connection *connection) {
  return evbuffer_get_length(bufferevent_get_output(connection->stream)) == 0;
}
