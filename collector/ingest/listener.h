/* SPDX-License-Identifier: Apache-2.0 */
/* The listening socket: accepts, and holds its breath when it must.  Loop only. */
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
  /* Takes FD over: not blocking, close-on-exec. */
  void (*on_accept)(void *context, int fd, const struct sockaddr *peer);
  void (*on_failure)(void *context); /* a connection could not be accepted */
  void *context;
};

/* Starts listening.  Returns 0 or -errno, with one line in ERROR. */
int listener_start(const struct listener_parts *parts, struct listener **ret, char *error,
                   size_t error_len);
void listener_stop(struct listener *listener);

/* Whether ADDRESS could be listened on now; nothing is left of the trial.  Returns 0 or -errno,
   with the reason in ERROR.  Any thread. */
int listener_try(const char *address, char *error, size_t error_len);

/* Leaves new connections in the kernel's queue, or takes them again. */
void listener_set_paused(struct listener *listener, bool is_paused);

/* The port in use. */
unsigned listener_port(const struct listener *listener);

#endif
