/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves HOST:PORT to socket addresses without blocking the loop. */
#ifndef UPLINK_RESOLVE_H
#define UPLINK_RESOLVE_H

#include <sys/socket.h>

struct event_base;
struct resolve;

enum { RESOLVE_ADDRESSES_MAX = 4 };

struct resolve_answer {
  int error; /* 0 or -errno: -ENOENT unknown name, -ETIMEDOUT, -EAGAIN no answer from the name
                server */
  unsigned count;
  struct sockaddr_storage addresses[RESOLVE_ADDRESSES_MAX];
};

typedef void resolve_on_done(void *context, const struct resolve_answer *answer);

/* The length of ADDRESS by its family. */
socklen_t resolve_len(const struct sockaddr_storage *address);

/* Parses TEXT ("127.0.0.1:7443", "[::1]:7443") without a look-up.  Returns 0, -ENOENT if its host
   is a name, -EINVAL if it is not HOST:PORT. */
int resolve_numeric(const char *text, struct sockaddr_storage *ret);

/* Resolves TEXT in a child process.  ON_DONE is called once from the loop, within ten seconds,
   unless resolve_stop is called first.  Returns 0 or -errno.  Loop only. */
int resolve_start(struct event_base *loop, const char *text, resolve_on_done *on_done,
                  void *context, struct resolve **ret);

/* Cancels the look-up and frees RESOLVE (NULL is permitted).  Call it after ON_DONE too; it may be
   called from ON_DONE.  Loop only. */
void resolve_stop(struct resolve *resolve);

#endif
