/* SPDX-License-Identifier: Apache-2.0 */
/* The uplink's interface to OpenSSL and sockets.

   The kernel accepts only UNSENT_BYTES ahead of its sending: megabytes in its buffer on a slow line
   could not be withdrawn, and a ping behind them would be late.

   Callbacks are deferred: libevent runs them from the loop and not from inside the call that caused
   them, so a step may free its connection.

   The reason of a broken connection is in one of three places: OpenSSL's verification and alerts,
   which common/tls.c keeps with the connection; OpenSSL's error queue, which libevent moves to its
   own; and errno, which libevent restores for the callback. */
#include "uplink_line.h"
#include "known_time.h"
#include "resolve.h"

#include "common/tls.h"
#include "proto/frame.h"
#include "proto/limits.h"

#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  OUT_LOW_BYTES = 32 << 10,                                 /* on_room is called below this */
  IN_HIGH_BYTES = LIMIT_CONTROL_BYTES + FRAME_HEADER_BYTES, /* one frame of the largest kind */
  UNSENT_BYTES = 8 << 10,
};

static SSL *new_ssl(const struct uplink_parts *parts, char *why) {
  const struct tls_paths paths = {.certificate = parts->certificate_path,
                                  .key = parts->key_path,
                                  .ca = parts->ca_path,
                                  .earliest_s =
                                      parts->time != NULL ? known_time_earliest_s(parts->time) : 0};
  SSL_CTX *context = tls_client_context(&paths, why, UPLINK_WHY_BYTES);
  if (context == NULL) return NULL;
  SSL *ssl = SSL_new(context);
  SSL_CTX_free(context); /* the connection holds a reference */
  if (ssl == NULL) snprintf(why, UPLINK_WHY_BYTES, "TLS: out of memory");
  return ssl;
}

struct bufferevent *uplink_line_open(const struct uplink_parts *parts,
                                     const struct sockaddr_storage *address,
                                     const struct uplink_callbacks *callbacks,
                                     char why[UPLINK_WHY_BYTES]) {
  static const int unsent_bytes = UNSENT_BYTES;
  SSL *ssl = new_ssl(parts, why);
  if (ssl == NULL) return NULL;
  struct bufferevent *line =
      bufferevent_openssl_socket_new(parts->loop, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
                                     BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
  if (line == NULL) {
    SSL_free(ssl);
    snprintf(why, UPLINK_WHY_BYTES, "out of memory");
    return NULL;
  }
  bufferevent_setcb(line, callbacks->on_bytes, callbacks->on_room, callbacks->on_event,
                    callbacks->context);
  bufferevent_setwatermark(line, EV_READ, 0, IN_HIGH_BYTES);
  bufferevent_setwatermark(line, EV_WRITE, OUT_LOW_BYTES, 0);
  bufferevent_enable(line, EV_READ | EV_WRITE);
  if (bufferevent_socket_connect(line, (const struct sockaddr *)address,
                                 (int)resolve_len(address)) < 0) {
    snprintf(why, UPLINK_WHY_BYTES, "%s", strerror(errno));
    bufferevent_free(line);
    return NULL;
  }
  fcntl(bufferevent_getfd(line), F_SETFD, FD_CLOEXEC);
  setsockopt(bufferevent_getfd(line), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes,
             sizeof unsent_bytes);
  return line;
}

/* A collector that rejects a board's certificate sends an alert and closes while Hello is being
   sent; the write then fails first, with the alert still unread. */
static void read_last_alert(SSL *ssl) {
  uint8_t byte;
  if (SSL_is_init_finished(ssl)) (void)SSL_read(ssl, &byte, 1);
  ERR_clear_error();
}

void uplink_line_explain(struct bufferevent *line, short what, char why[UPLINK_WHY_BYTES]) {
  SSL *ssl = bufferevent_openssl_get_ssl(line);
  int error = errno;
  if ((what & BEV_EVENT_ERROR) != 0) read_last_alert(ssl);
  unsigned long kept = bufferevent_get_openssl_error(line);
  if (ERR_GET_LIB(kept) == ERR_LIB_SSL) ERR_raise(ERR_LIB_SSL, ERR_GET_REASON(kept));
  /* A connection that ends without an error leaves an older error in errno. */
  bool is_older = (what & BEV_EVENT_EOF) != 0 || error == EAGAIN || error == EINPROGRESS;
  errno = is_older ? 0 : error;
  tls_failure(ssl, why, UPLINK_WHY_BYTES);
}

uint64_t uplink_line_sent_bytes(struct bufferevent *line) {
  SSL *ssl = line ? bufferevent_openssl_get_ssl(line) : NULL;
  BIO *wire = ssl ? SSL_get_wbio(ssl) : NULL;
  return wire ? BIO_number_written(wire) : 0;
}

int64_t uplink_line_trusted_until_s(struct bufferevent *line) {
  const SSL *ssl = bufferevent_openssl_get_ssl(line);
  const X509 *certificate = SSL_get0_peer_certificate(ssl);
  struct tm end;
  if (certificate == NULL || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return 0;
  return (int64_t)timegm(&end);
}

void uplink_line_hang_up(struct bufferevent *line) {
  SSL *ssl = bufferevent_openssl_get_ssl(line);
  if (SSL_is_init_finished(ssl)) SSL_shutdown(ssl);
  ERR_clear_error();
}
