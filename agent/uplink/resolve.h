/* SPDX-License-Identifier: Apache-2.0 */
/* HOST:PORT to socket addresses without ever blocking the loop. */
#ifndef UPLINK_RESOLVE_H
#define UPLINK_RESOLVE_H

#include <sys/socket.h>

struct event_base;
struct resolve;

enum { RESOLVE_ADDRESSES_MAX = 4 };

struct resolve_answer {
  int error; /* 0 or -errno: -ENOENT unknown name, -ETIMEDOUT, -EAGAIN name server silent */
  unsigned count;
  struct sockaddr_storage addresses[RESOLVE_ADDRESSES_MAX];
};

typedef void resolve_on_done(void *context, const struct resolve_answer *answer);

/* The length of ADDRESS by its family. */
socklen_t resolve_len(const struct sockaddr_storage *address);

/* Reads TEXT ("127.0.0.1:7443", "[::1]:7443") without asking anybody.  Returns 0, -ENOENT when its
   host is a name, -EINVAL when it is not HOST:PORT at all. */
int resolve_numeric(const char *text, struct sockaddr_storage *ret);

/* Asks for the addresses of TEXT in a process of its own; ON_DONE is called once from the loop,
   within ten seconds, unless resolve_stop comes first.  Returns 0 or -errno.  Loop only. */
int resolve_start(struct event_base *loop, const char *text, resolve_on_done *on_done,
                  void *context, struct resolve **ret);

/* Ends the question and frees RESOLVE (NULL is fine).  Also to be called after ON_DONE, and may be
   called from it.  Loop only. */
void resolve_stop(struct resolve *resolve);

#endif
