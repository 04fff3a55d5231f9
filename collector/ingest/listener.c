/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts connections, with pauses in two cases.

   If descriptors run out, accept fails while the socket stays readable: without a pause the loop
   would spin. If many peers connect at once (a fleet after a power cut), the owner pauses the
   listener while enough handshakes are under way. Further peers wait in the kernel's queue, and
   those beyond it retry later. */
#include "listener.h"

#include "common/log.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  BACKLOG = 1024,
  BREATH_SECONDS = 1, /* pause after a failed accept */
  HOST_BYTES = 256,
};

struct listener {
  struct listener_parts parts;
  struct evconnlistener *socket;
  struct event *breath;
  bool is_paused, is_out_of_breath;
};

static void apply(struct listener *listener) {
  if (listener->is_paused || listener->is_out_of_breath)
    evconnlistener_disable(listener->socket);
  else
    evconnlistener_enable(listener->socket);
}

static void on_accept(struct evconnlistener *socket, evutil_socket_t fd, struct sockaddr *peer,
                      int peer_len, void *context) {
  struct listener *listener = context;
  (void)socket, (void)peer_len;
  listener->parts.on_accept(listener->parts.context, fd, peer);
}

static void on_error(struct evconnlistener *socket, void *context) {
  static const struct timeval breath = {.tv_sec = BREATH_SECONDS};
  struct listener *listener = context;
  (void)socket;
  log_debug("ingest-accept %s: %s", listener->parts.address, strerror(errno));
  listener->is_out_of_breath = true;
  apply(listener);
  event_add(listener->breath, &breath);
  listener->parts.on_failure(listener->parts.context);
}

static void on_breath(evutil_socket_t fd, short what, void *context) {
  struct listener *listener = context;
  (void)fd, (void)what;
  listener->is_out_of_breath = false;
  apply(listener);
}

/* Splits "host:port" or "[host]:port". */
static int split(const char *address, char host[HOST_BYTES], const char **ret_port) {
  const char *colon = strrchr(address, ':');
  if (colon == NULL || colon == address || colon[1] == 0) return -EINVAL;
  size_t len = (size_t)(colon - address);
  bool is_bracketed = address[0] == '[' && address[len - 1] == ']';
  if (is_bracketed) address++, len -= 2;
  if (len == 0 || len >= HOST_BYTES || (!is_bracketed && memchr(address, ':', len))) return -EINVAL;
  snprintf(host, HOST_BYTES, "%.*s", (int)len, address);
  *ret_port = colon + 1;
  return 0;
}

static int resolve(const char *address, struct addrinfo **ret, const char **ret_why) {
  char host[HOST_BYTES];
  const char *port;
  const struct addrinfo hints = {
      .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  *ret_why = "not of the form HOST:PORT";
  if (split(address, host, &port) != 0) return -EINVAL;
  int failure = getaddrinfo(host, port, &hints, ret);
  *ret_why = failure ? gai_strerror(failure) : "";
  return failure ? -EINVAL : 0;
}

static int bind_first(struct listener *listener, const struct addrinfo *list) {
  int failure = -EADDRNOTAVAIL;
  for (const struct addrinfo *one = list; one != NULL; one = one->ai_next) {
    listener->socket =
        evconnlistener_new_bind(listener->parts.loop, on_accept, listener,
                                LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
                                BACKLOG, one->ai_addr, (int)one->ai_addrlen);
    if (listener->socket != NULL) return 0;
    failure = errno ? -errno : -EADDRNOTAVAIL;
  }
  return failure;
}

static int open_socket(struct listener *listener, char *error, size_t error_len) {
  struct addrinfo *list = NULL;
  const char *why;
  int result = resolve(listener->parts.address, &list, &why);
  if (result == 0) {
    result = bind_first(listener, list);
    if (result != 0) why = strerror(-result);
    freeaddrinfo(list);
  }
  if (result != 0)
    snprintf(error, error_len, "cannot listen on %s: %s", listener->parts.address, why);
  return result;
}

static int bind_once(const struct addrinfo *address) {
  static const int yes = 1;
  int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes); /* as evconnlistener does */
  int failure = bind(fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : -errno;
  close(fd);
  return failure;
}

int listener_try(const char *address, char *error, size_t error_len) {
  struct addrinfo *list = NULL;
  const char *why;
  int result = resolve(address, &list, &why);
  if (result == 0) {
    result = -EADDRNOTAVAIL;
    for (const struct addrinfo *one = list; one != NULL && result != 0; one = one->ai_next)
      result = bind_once(one);
    why = strerror(-result);
    freeaddrinfo(list);
  }
  if (result != 0) snprintf(error, error_len, "%s", why);
  return result;
}

int listener_start(const struct listener_parts *parts, struct listener **ret, char *error,
                   size_t error_len) {
  struct listener *listener = calloc(1, sizeof *listener);
  if (listener == NULL) {
    snprintf(error, error_len, "cannot listen on %s: %s", parts->address, strerror(ENOMEM));
    return -ENOMEM;
  }
  listener->parts = *parts;
  listener->breath = evtimer_new(parts->loop, on_breath, listener);
  int result = listener->breath ? open_socket(listener, error, error_len) : -ENOMEM;
  if (result != 0) {
    listener_stop(listener);
    return result;
  }
  evconnlistener_set_error_cb(listener->socket, on_error);
  *ret = listener;
  return 0;
}

void listener_stop(struct listener *listener) {
  if (listener == NULL) return;
  if (listener->socket != NULL) evconnlistener_free(listener->socket);
  if (listener->breath != NULL) event_free(listener->breath);
  free(listener);
}

void listener_set_paused(struct listener *listener, bool is_paused) {
  if (listener->is_paused == is_paused) return;
  listener->is_paused = is_paused;
  apply(listener);
}

unsigned listener_port(const struct listener *listener) {
  struct sockaddr_storage address;
  socklen_t len = sizeof address;
  if (getsockname(evconnlistener_get_fd(listener->socket), (struct sockaddr *)&address, &len) != 0)
    return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port);
  return ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
}
