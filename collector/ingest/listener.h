/* SPDX-License-Identifier: Apache-2.0 */
/* The listening socket: accepts connections, and can be paused. Loop only. */
#ifndef INGEST_LISTENER_H
#define INGEST_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct listener;
struct sockaddr;

struct listener_parts {
  struct event_base *loop;
  const char *address; /* "127.0.0.1:7443", "[::]:7443", "localhost:7443"; port 0: any free one */
  /* Takes FD over, which is non-blocking and close-on-exec. */
  void (*on_accept)(void *context, int fd, const struct sockaddr *peer);
  void (*on_failure)(void *context); /* accept has failed */
  void *context;
};

/* Starts listening.  Returns 0 or -errno, with one line in ERROR. */
int listener_start(const struct listener_parts *parts, struct listener **ret, char *error,
                   size_t error_len);
void listener_stop(struct listener *listener);

/* Tries to listen on ADDRESS, without leaving a socket. Returns 0 or -errno, with the reason in
   ERROR. Any thread. */
int listener_try(const char *address, char *error, size_t error_len);

/* Leaves new connections in the kernel's queue, or accepts them again. */
void listener_set_paused(struct listener *listener, bool is_paused);

/* Returns the port in use. */
unsigned listener_port(const struct listener *listener);

#endif
