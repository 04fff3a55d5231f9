/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel identifies the peer (SO_PEERCRED); the contents of a packet are never used for that.
   Received descriptors are closed here unless the handler keeps them.

   A connection costs a struct and an event.  It lives while its answer is pending (a flush may take
   minutes), or for a while until its peer's next packet.  Connections are limited in total and per
   user, so that one user of a system daemon cannot lock out others.  As an attacker may own many
   users, some places are reserved for root and the daemon's owner: they can always query the status
   and pause sampling.  The CPU time of packets is charged to their user.  A user over its quota
   (user_tolls.h) only gets BUSY, a request to retry.  A malformed packet ends its connection,
   nothing else.

   A booting board starts all its programs at once, and an agent waits only briefly for room in the
   queue (keeper/listener.c).  So connections are accepted before earlier ones have sent a packet,
   but only some: beyond that a connection is better off in the queue than rejected. */
#include "intake.h"
#include "intake_packet.h"

#include "common/clock.h"
#include "common/log.h"
#include "keeper/porter.h"
#include "targets/user_tolls.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SILENT_MAX = 32 /* accepted without a packet yet; half of a user's limit */ };

struct intake_connection {
  struct intake *intake;
  struct event *readable;
  int socket;
  pid_t pid;
  uid_t uid;
  bool was_heard;
  bool is_owed; /* an answer is pending */
  struct intake_connection *next;
};

struct intake {
  struct intake_parts parts;
  struct event *acceptable;
  struct intake_connection *connections;
  unsigned silent; /* connections without a packet yet */
  struct intake_figures figures;
};

static int send_reply(int socket, struct intake_reply *reply, const int *fds, unsigned count) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(INTAKE_REPLY_FDS_MAX * sizeof(int))];
  } control;
  struct iovec piece = {reply, sizeof *reply};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  reply->magic = INTAKE_MAGIC;
  reply->version = INTAKE_VERSION;
  if (count > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof *fds);
    memcpy(CMSG_DATA(head), fds, count * sizeof *fds);
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void defer(int socket) {
  struct intake_reply reply = {.kind = INTAKE_BUSY};
  snprintf(reply.why, sizeof reply.why,
           "what your programs ask takes too much of the daemon's time");
  send_reply(socket, &reply, NULL, 0);
}

static void note_heard(struct intake_connection *connection) {
  if (!connection->was_heard) connection->intake->silent--;
  connection->was_heard = true;
}

static void connection_close(struct intake_connection *connection) {
  struct intake *intake = connection->intake;
  struct intake_connection **at = &intake->connections;
  while (*at != connection) at = &(*at)->next;
  *at = connection->next;
  intake->figures.connections--;
  note_heard(connection);
  intake->parts.on_close(intake->parts.context, connection);
  event_free(connection->readable);
  close(connection->socket);
  free(connection);
}

/* Root may query and pause any daemon; its programs are not sampled by a user's daemon. */
static bool is_served(const struct intake_connection *connection, unsigned kind) {
  if (connection->intake->parts.for_all || connection->uid == geteuid()) return true;
  return connection->uid == 0 && (kind == INTAKE_STATUS || kind == INTAKE_CTL);
}

/* In a daemon for all users the packets of one user must not affect others; root is trusted. */
static struct user_tolls *tolls_of(const struct intake *intake, uid_t uid) {
  return intake->parts.for_all && uid != 0 ? intake->parts.tolls : NULL;
}

static bool is_deferred(struct intake *intake, uid_t uid) {
  struct user_tolls *tolls = tolls_of(intake, uid);
  if (tolls == NULL || user_tolls_may_pass(tolls, uid, clock_monotonic_ns())) return false;
  intake->figures.deferred++;
  return true;
}

static void charge(struct intake *intake, uid_t uid, uint64_t begun_ns) {
  struct user_tolls *tolls = tolls_of(intake, uid);
  if (tolls != NULL) user_tolls_charge(tolls, uid, clock_cpu_ns() - begun_ns);
}

static void serve(struct intake_connection *connection, struct intake_received *received) {
  struct intake *intake = connection->intake;
  struct intake_packet packet = {.connection = connection,
                                 .request = &received->request,
                                 .pid = connection->pid,
                                 .uid = connection->uid,
                                 .fds = received->fds,
                                 .fd_count = received->fd_count};
  intake->figures.packets++;
  connection->is_owed = true;
  if (intake->parts.for_all) intake_packet_sign(&received->request, connection->uid);
  if (is_served(connection, received->request.kind))
    intake->parts.on_packet(intake->parts.context, &packet);
  else
    intake_refuse(connection, "this daemon serves another user");
}

/* Returns false if the connection is to be closed: an agent sends one request. */
static bool take_packet(struct intake_connection *connection) {
  struct intake_received packet;
  struct intake *intake = connection->intake;
  int error = intake_packet_receive(connection->socket, &packet);
  if (error != 0) return error == -EAGAIN;
  const char *fault = intake_packet_judge(&packet);
  bool is_taken = fault == NULL && !is_deferred(intake, connection->uid);
  if (is_taken)
    serve(connection, &packet);
  else if (fault == NULL)
    defer(connection->socket);
  intake_packet_close(&packet);
  if (fault == NULL) return is_taken && packet.request.kind != INTAKE_TARGET;
  intake->figures.malformed++;
  log_debug("intake pid %d: refused: %s", (int)connection->pid, fault);
  intake_refuse(connection, fault);
  return false;
}

static void on_readable(evutil_socket_t socket, short what, void *context) {
  struct intake_connection *connection = context;
  struct intake *intake = connection->intake;
  uid_t uid = connection->uid;
  uint64_t begun_ns = clock_cpu_ns();
  (void)socket;
  if (what & EV_TIMEOUT) {
    if (!connection->is_owed) connection_close(connection);
    return;
  }
  note_heard(connection);
  if (!take_packet(connection)) connection_close(connection);
  charge(intake, uid, begun_ns);
}

static unsigned count_of_user(const struct intake *intake, uid_t uid) {
  unsigned count = 0;
  for (const struct intake_connection *c = intake->connections; c != NULL; c = c->next)
    count += c->uid == uid;
  return count;
}

static bool has_place(const struct intake *intake, uid_t uid) {
  bool is_master = uid == 0 || (!intake->parts.for_all && uid == geteuid());
  unsigned more = is_master ? INTAKE_CONNECTIONS_OF_MASTER : 0;
  return intake->figures.connections < INTAKE_CONNECTIONS_MAX + more &&
         count_of_user(intake, uid) < INTAKE_CONNECTIONS_OF_USER + more;
}

static struct intake_connection *connection_new(struct intake *intake, int socket,
                                                const struct ucred *peer) {
  static const struct timeval quiet = {.tv_sec = INTAKE_QUIET_S};
  if (!has_place(intake, peer->uid)) return NULL;
  struct intake_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) return NULL;
  *connection = (struct intake_connection){
      .intake = intake, .socket = socket, .pid = peer->pid, .uid = peer->uid};
  connection->readable =
      event_new(intake->parts.loop, socket, EV_READ | EV_PERSIST, on_readable, connection);
  if (connection->readable != NULL && event_add(connection->readable, &quiet) == 0)
    return connection;
  if (connection->readable != NULL) event_free(connection->readable);
  free(connection);
  return NULL;
}

/* Takes ownership of SOCKET. */
static void let_in(struct intake *intake, int socket, const struct ucred *peer) {
  struct intake_connection *connection = connection_new(intake, socket, peer);
  if (connection == NULL) {
    intake->figures.refused++;
    porter_note_away(intake->parts.tally, socket);
    close(socket);
    return;
  }
  connection->next = intake->connections;
  intake->connections = connection;
  intake->figures.connections++;
  intake->silent++;
}

/* Returns false if no connection is pending. */
static bool accept_one(struct intake *intake, int listener) {
  struct ucred peer = {.uid = (uid_t)-1};
  socklen_t len = sizeof peer;
  uint64_t begun_ns = clock_cpu_ns();
  int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return false;
  porter_note(intake->parts.tally);
  bool is_known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0;
  if (is_known && !is_deferred(intake, peer.uid)) {
    let_in(intake, socket, &peer);
  } else {
    defer(socket);
    close(socket);
  }
  charge(intake, peer.uid, begun_ns);
  return true;
}

static void on_acceptable(evutil_socket_t listener, short what, void *context) {
  struct intake *intake = context;
  (void)what;
  for (unsigned turn = 0; turn < SILENT_MAX && accept_one(intake, listener); turn++)
    if (intake->silent >= SILENT_MAX) break;
}

int intake_start(const struct intake_parts *parts, struct intake **ret) {
  struct intake *intake = calloc(1, sizeof *intake);
  if (intake == NULL) return -ENOMEM;
  intake->parts = *parts;
  intake->acceptable =
      event_new(parts->loop, parts->listener, EV_READ | EV_PERSIST, on_acceptable, intake);
  if (intake->acceptable == NULL || event_add(intake->acceptable, NULL) < 0) {
    intake_stop(intake);
    return -ENOMEM;
  }
  *ret = intake;
  return 0;
}

void intake_stop(struct intake *intake) {
  if (intake == NULL) return;
  while (intake->connections != NULL) connection_close(intake->connections);
  if (intake->acceptable != NULL) event_free(intake->acceptable);
  free(intake);
}

void intake_answer_fds(struct intake_connection *connection, struct intake_reply *reply,
                       const int *fds, unsigned count) {
  int error = send_reply(connection->socket, reply, fds, count);
  connection->is_owed = false;
  if (error) log_debug("intake pid %d: answer lost: %s", (int)connection->pid, strerror(-error));
}

void intake_answer(struct intake_connection *connection, struct intake_reply *reply, int fd) {
  intake_answer_fds(connection, reply, &fd, fd >= 0);
}

void intake_accept(struct intake_connection *connection) {
  struct intake_reply reply = {.kind = INTAKE_ACCEPTED};
  intake_answer(connection, &reply, -1);
}

void intake_refuse(struct intake_connection *connection, const char *why) {
  struct intake_reply reply = {.kind = INTAKE_REFUSED};
  snprintf(reply.why, sizeof reply.why, "%s", why);
  connection->intake->figures.refused++;
  intake_answer(connection, &reply, -1);
}

void intake_figures(const struct intake *intake, struct intake_figures *ret) {
  *ret = intake->figures;
  ret->turned_away = porter_turned_away(intake->parts.tally);
}
