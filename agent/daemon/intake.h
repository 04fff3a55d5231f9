/* SPDX-License-Identifier: Apache-2.0 */
/* The server side of intake_format.h: connections, packets, and who sent them. */
#ifndef DAEMON_INTAKE_H
#define DAEMON_INTAKE_H

#include "intake/intake_format.h"

#include <stdbool.h>
#include <sys/types.h>

struct event_base;
struct intake;
struct intake_connection;
struct porter_tally;
struct user_tolls;

enum {
  INTAKE_CONNECTIONS_MAX = 256,
  INTAKE_CONNECTIONS_OF_USER = 64,
  INTAKE_CONNECTIONS_OF_MASTER = 16, /* beyond both, for whom a daemon belongs to, and root */
  INTAKE_REPLY_FDS_MAX = 3,
  INTAKE_QUIET_S = 10, /* a connection without a packet, and none to be answered, ends */
};

/* One packet, its size, magic and version checked and its strings ended. */
struct intake_packet {
  struct intake_connection *connection;
  const struct intake_request *request;
  pid_t pid; /* of the sender, from the kernel */
  uid_t uid;
  int *fds; /* closed after the call; one that is kept is replaced by -1 */
  unsigned fd_count;
};

struct intake_parts { /* borrowed */
  struct event_base *loop;
  int listener;
  bool for_all;               /* else only our own user is served */
  struct porter_tally *tally; /* or NULL */
  struct user_tolls *tolls;   /* with for_all: what their packets cost others, root excepted */
  void (*on_packet)(void *context, struct intake_packet *packet);
  void (*on_close)(void *context, struct intake_connection *connection);
  void *context;
};

int intake_start(const struct intake_parts *parts, struct intake **ret);
void intake_stop(struct intake *intake);

/* Answers with REPLY (magic and version are filled in) and FD, -1 for none.  An answer that cannot
   be delivered at once is given up. */
void intake_answer(struct intake_connection *connection, struct intake_reply *reply, int fd);
/* The same with the descriptors FDS, at most INTAKE_REPLY_FDS_MAX. */
void intake_answer_fds(struct intake_connection *connection, struct intake_reply *reply,
                       const int *fds, unsigned count);
void intake_accept(struct intake_connection *connection);
void intake_refuse(struct intake_connection *connection, const char *why);

struct intake_figures {
  unsigned connections;
  uint64_t packets, refused, malformed;
  uint64_t deferred;    /* told to ask again: their user has had his share */
  uint64_t turned_away; /* programs, since the daemon began: its worker hung, or all places taken */
};
void intake_figures(const struct intake *intake, struct intake_figures *ret);

#endif
