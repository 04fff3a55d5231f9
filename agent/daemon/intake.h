/* SPDX-License-Identifier: Apache-2.0 */
/* The server side of intake_format.h: connections, packets, and their senders. */
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
  INTAKE_CONNECTIONS_OF_MASTER = 16, /* beyond both, for the daemon's owner and root */
  INTAKE_REPLY_FDS_MAX = 3,
  INTAKE_QUIET_S = 10, /* closes a connection without packets or pending answers */
};

/* One packet.  Its size, magic and version are checked, and its strings are terminated. */
struct intake_packet {
  struct intake_connection *connection;
  const struct intake_request *request;
  pid_t pid; /* of the sender, from the kernel */
  uid_t uid;
  int *fds; /* closed after the call; set an entry to -1 to keep it */
  unsigned fd_count;
};

struct intake_parts { /* borrowed */
  struct event_base *loop;
  int listener;
  bool for_all;               /* else only the daemon's own user is served */
  struct porter_tally *tally; /* or NULL */
  struct user_tolls *tolls;   /* with for_all: CPU accounts of users' packets, except root's */
  void (*on_packet)(void *context, struct intake_packet *packet);
  void (*on_close)(void *context, struct intake_connection *connection);
  void *context;
};

int intake_start(const struct intake_parts *parts, struct intake **ret);
void intake_stop(struct intake *intake);

/* Sends REPLY (magic and version are filled in) with FD, or -1 for none.  An answer that would
   block is dropped. */
void intake_answer(struct intake_connection *connection, struct intake_reply *reply, int fd);
/* As intake_answer, with the descriptors FDS, at most INTAKE_REPLY_FDS_MAX. */
void intake_answer_fds(struct intake_connection *connection, struct intake_reply *reply,
                       const int *fds, unsigned count);
void intake_accept(struct intake_connection *connection);
void intake_refuse(struct intake_connection *connection, const char *why);

struct intake_figures {
  unsigned connections;
  uint64_t packets, refused, malformed;
  uint64_t deferred;    /* answered "busy": the user has used up its quota */
  uint64_t turned_away; /* programs since the daemon's start, while its worker hung or all places
                           were taken */
};
void intake_figures(const struct intake *intake, struct intake_figures *ret);

#endif
