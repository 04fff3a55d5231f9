/* SPDX-License-Identifier: Apache-2.0 */
/* The address that serves HTTP, with TLS unless it is loopback. Loop only. */
#ifndef HTTP_HTTP_LISTENER_H
#define HTTP_HTTP_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

struct bufferevent;
struct ca;
struct event_base;
struct http_listener;
struct sockaddr;

struct http_listener_owner {
  struct event_base *loop;
  struct ca *ca;
  const char *public_name; /* replaces the host in URLs, except for loopback; or NULL */
  /* A peer has connected. The callee owns BEV. */
  void (*on_accept)(void *context, struct bufferevent *bev, bool is_tls,
                    const struct sockaddr *peer);
  void *context;
};

/* Listens on ADDRESS ("127.0.0.1:7480", "[::1]:0", "localhost:7480").  Returns 0 or -errno, with
   one line in ERROR.  OWNER is borrowed for the listener's life. */
int http_listener_open(const char *address, const struct http_listener_owner *owner,
                       struct http_listener **ret, char *error, size_t error_len);
void http_listener_close(struct http_listener *listener);

bool http_listener_is_loopback(const struct http_listener *listener);
const char *http_listener_url(const struct http_listener *listener);

#endif
