/* SPDX-License-Identifier: Apache-2.0 */
/* Loopback is served without TLS. Every other address is served with TLS and the certificate that
   the fleet's own CA issued to this collector, because requests carry tokens. Client certificates
   are not used: people and scripts authenticate with tokens. Session tickets are off, so that a
   stolen ticket key decrypts no recorded session.

   If the process runs out of descriptors, accepting is paused for a moment: an accept that keeps
   failing would make the loop spin. */
#include "http_listener.h"

#include "address.h"
#include "common/log.h"
#include "gate.h"
#include "identity/ca.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACKLOG = 128, PAUSE_MS = 200 };

struct http_listener {
  const struct http_listener_owner *owner;
  struct evconnlistener *socket;
  struct event *resume;
  SSL_CTX *tls;           /* NULL on loopback */
  uint64_t ca_generation; /* of the files it was made from */
  bool is_loopback;
  char url[ADDRESS_URL_BYTES];
};

static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                       const unsigned char *in, unsigned int in_len, void *arg) {
  static const unsigned char ours[] = "\x08http/1.1";
  (void)ssl, (void)arg;
  int found = SSL_select_next_proto((unsigned char **)(uintptr_t)out, out_len, ours,
                                    sizeof ours - 1, in, in_len);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static SSL_CTX *tls_context(const struct ca *ca, char *error, size_t error_len) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  bool is_ready =
      context && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
      SSL_CTX_use_certificate_chain_file(context, ca_server_certificate_path(ca)) == 1 &&
      SSL_CTX_use_PrivateKey_file(context, ca_server_key_path(ca), SSL_FILETYPE_PEM) == 1;
  if (!is_ready) {
    snprintf(error, error_len, "the server certificate cannot be used: %s",
             ERR_reason_error_string(ERR_peek_error()));
    ERR_clear_error();
    SSL_CTX_free(context);
    return NULL;
  }
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, select_alpn, NULL);
  return context;
}

/* Reloads the CA's files if they have changed. If that fails, the old ones stay in use. */
static void follow_ca(struct http_listener *listener) {
  char error[256];
  uint64_t generation = ca_generation(listener->owner->ca);
  if (listener->tls == NULL || generation == listener->ca_generation) return;
  SSL_CTX *tls = tls_context(listener->owner->ca, error, sizeof error);
  listener->ca_generation = generation;
  if (tls == NULL) {
    log_error("http-ca files: not in use: %s", error);
    return;
  }
  SSL_CTX_free(listener->tls);
  listener->tls = tls;
}

/* Makes a bufferevent for an accepted socket. Takes FD. */
static struct bufferevent *wrap(struct http_listener *listener, evutil_socket_t fd) {
  follow_ca(listener);
  struct event_base *loop = listener->owner->loop;
  SSL *ssl = listener->tls ? SSL_new(listener->tls) : NULL;
  struct bufferevent *bev = NULL;
  if (ssl)
    bev = bufferevent_openssl_socket_new(loop, fd, ssl, BUFFEREVENT_SSL_ACCEPTING,
                                         BEV_OPT_CLOSE_ON_FREE);
  else if (listener->tls == NULL)
    bev = bufferevent_socket_new(loop, fd, BEV_OPT_CLOSE_ON_FREE);
  if (bev && ssl) bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
  if (bev == NULL) {
    SSL_free(ssl);
    evutil_closesocket(fd);
  }
  return bev;
}

static void on_accept(struct evconnlistener *socket, evutil_socket_t fd, struct sockaddr *peer,
                      int peer_len, void *arg) {
  (void)socket, (void)peer_len;
  struct http_listener *listener = arg;
  struct bufferevent *bev = wrap(listener, fd);
  if (bev) listener->owner->on_accept(listener->owner->context, bev, listener->tls != NULL, peer);
}

static void on_accept_error(struct evconnlistener *socket, void *arg) {
  struct http_listener *listener = arg;
  const struct timeval pause = {.tv_usec = PAUSE_MS * 1000};
  log_warn("http-accept: %s; paused for %d ms", strerror(errno), PAUSE_MS);
  evconnlistener_disable(socket);
  event_add(listener->resume, &pause);
}

static void on_resume(evutil_socket_t fd, short what, void *arg) {
  (void)fd, (void)what;
  struct http_listener *listener = arg;
  evconnlistener_enable(listener->socket);
}

static void note_url(struct http_listener *listener) {
  struct sockaddr_storage bound = {0};
  socklen_t len = sizeof bound;
  getsockname(evconnlistener_get_fd(listener->socket), (struct sockaddr *)&bound, &len);
  address_print_url(&bound, listener->tls ? "https" : "http",
                    listener->tls ? listener->owner->public_name : NULL, listener->url);
}

static int listen_on(struct http_listener *listener, const struct sockaddr *address,
                     socklen_t len) {
  listener->resume = evtimer_new(listener->owner->loop, on_resume, listener);
  listener->socket =
      evconnlistener_new_bind(listener->owner->loop, on_accept, listener,
                              LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
                              BACKLOG, address, (int)len);
  if (listener->resume == NULL || listener->socket == NULL) return errno ? -errno : -ENOMEM;
  evconnlistener_set_error_cb(listener->socket, on_accept_error);
  note_url(listener);
  return 0;
}

int http_listener_open(const char *address, const struct http_listener_owner *owner,
                       struct http_listener **ret, char *error, size_t error_len) {
  struct sockaddr_storage bound;
  socklen_t len;
  int failed = address_parse(address, &bound, &len);
  if (failed) {
    snprintf(error, error_len, "--http %s: is not ADDRESS:PORT with a numeric address", address);
    return failed;
  }
  struct http_listener *listener = calloc(1, sizeof *listener);
  if (listener == NULL) return -ENOMEM;
  listener->owner = owner;
  listener->is_loopback = gate_is_loopback_address((const struct sockaddr *)&bound);
  if (!listener->is_loopback) {
    listener->ca_generation = ca_generation(owner->ca);
    listener->tls = tls_context(owner->ca, error, error_len);
    failed = listener->tls ? 0 : -EINVAL;
  }
  if (!failed) {
    failed = listen_on(listener, (const struct sockaddr *)&bound, len);
    if (failed) snprintf(error, error_len, "--http %s: %s", address, strerror(-failed));
  }
  if (failed) {
    http_listener_close(listener);
    return failed;
  }
  *ret = listener;
  return 0;
}

void http_listener_close(struct http_listener *listener) {
  if (listener == NULL) return;
  if (listener->socket) evconnlistener_free(listener->socket);
  if (listener->resume) event_free(listener->resume);
  SSL_CTX_free(listener->tls);
  free(listener);
}

bool http_listener_is_loopback(const struct http_listener *listener) {
  return listener->is_loopback;
}

const char *http_listener_url(const struct http_listener *listener) {
  return listener->url;
}
