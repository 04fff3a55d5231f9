/* SPDX-License-Identifier: Apache-2.0 */
/* Packets have one size, so there is nothing to parse: size, magic, version, ends of strings.  Who
   the caller is comes from the kernel (SO_PEERCRED); what a packet says of itself is never used for
   that.  Descriptors that arrive are closed here unless the handler keeps them.

   A connection stays as long as its caller wants (`run` keeps one while its program runs) and costs
   a struct and an event; callers are limited in number, each user apart, so that one user of a
   system daemon cannot lock out the others.  A malformed packet ends its connection, nothing else.
 */
#include "intake.h"

#include "common/log.h"
#include "keeper/passed_fds.h"
#include "keeper/porter.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct intake_connection {
  struct intake *intake;
  struct event *readable;
  int socket;
  pid_t pid;
  uid_t uid;
  struct intake_connection *next;
};

struct intake {
  struct intake_parts parts;
  struct event *acceptable;
  struct intake_connection *connections;
  struct intake_figures figures;
};

union control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * INTAKE_FDS_MAX)];
};

static void connection_close(struct intake_connection *connection) {
  struct intake *intake = connection->intake;
  struct intake_connection **at = &intake->connections;
  while (*at != connection) at = &(*at)->next;
  *at = connection->next;
  intake->figures.connections--;
  intake->parts.on_close(intake->parts.context, connection);
  event_free(connection->readable);
  close(connection->socket);
  free(connection);
}

static void end_strings(struct intake_request *request) {
  request->sampler[sizeof request->sampler - 1] = '\0';
  request->service[sizeof request->service - 1] = '\0';
  request->labels[sizeof request->labels - 1] = '\0';
  request->exe[sizeof request->exe - 1] = '\0';
  request->why[sizeof request->why - 1] = '\0';
  request->argv[sizeof request->argv - 1] = '\0';
}

/* Why the packet is no good, or NULL. */
static const char *find_fault(const struct intake_request *request, ssize_t len, int flags) {
  if (len != (ssize_t)sizeof *request || (flags & MSG_TRUNC)) return "a packet of another size";
  if (flags & MSG_CTRUNC) return "more descriptors than INTAKE_FDS_MAX";
  if (request->magic != INTAKE_MAGIC) return "no fleetprof packet";
  if (request->version != INTAKE_VERSION) return "another version of fleetprof";
  return NULL;
}

/* Root may ask any daemon how it is, and tell it to pause; its programs are not for a user's. */
static bool is_served(const struct intake_connection *connection, unsigned kind) {
  if (connection->intake->parts.for_all || connection->uid == geteuid()) return true;
  return connection->uid == 0 && (kind == INTAKE_STATUS || kind == INTAKE_CTL);
}

static void serve(struct intake_connection *connection, struct intake_request *request, int *fds,
                  unsigned fd_count) {
  struct intake *intake = connection->intake;
  struct intake_packet packet = {.connection = connection,
                                 .request = request,
                                 .pid = connection->pid,
                                 .uid = connection->uid,
                                 .fds = fds,
                                 .fd_count = fd_count};
  end_strings(request);
  intake->figures.packets++;
  if (is_served(connection, request->kind))
    intake->parts.on_packet(intake->parts.context, &packet);
  else
    intake_refuse(connection, "this daemon serves another user");
}

static void on_readable(evutil_socket_t socket, short what, void *context) {
  struct intake_connection *connection = context;
  struct intake_request request;
  union control control;
  int fds[INTAKE_FDS_MAX];
  struct iovec piece = {&request, sizeof request};
  struct msghdr message = {.msg_iov = &piece,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  (void)what;
  ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  unsigned fd_count = got > 0 ? passed_fds_take(&message, fds, INTAKE_FDS_MAX) : 0;
  const char *fault = got > 0 ? find_fault(&request, got, message.msg_flags) : NULL;
  if (got > 0 && fault == NULL) serve(connection, &request, fds, fd_count);
  for (unsigned i = 0; i < fd_count; i++)
    if (fds[i] >= 0) close(fds[i]);
  if (got > 0 && fault == NULL) return;
  if (fault != NULL) {
    connection->intake->figures.malformed++;
    log_debug("intake pid %d: refused: %s", (int)connection->pid, fault);
    intake_refuse(connection, fault);
  }
  connection_close(connection);
}

static unsigned count_of_user(const struct intake *intake, uid_t uid) {
  unsigned count = 0;
  for (const struct intake_connection *c = intake->connections; c != NULL; c = c->next)
    count += c->uid == uid;
  return count;
}

static struct intake_connection *connection_new(struct intake *intake, int socket) {
  struct ucred peer;
  socklen_t len = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) return NULL;
  if (intake->figures.connections >= INTAKE_CONNECTIONS_MAX ||
      count_of_user(intake, peer.uid) >= INTAKE_CONNECTIONS_OF_USER)
    return NULL;
  struct intake_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) return NULL;
  *connection = (struct intake_connection){
      .intake = intake, .socket = socket, .pid = peer.pid, .uid = peer.uid};
  connection->readable =
      event_new(intake->parts.loop, socket, EV_READ | EV_PERSIST, on_readable, connection);
  if (connection->readable != NULL && event_add(connection->readable, NULL) == 0) return connection;
  if (connection->readable != NULL) event_free(connection->readable);
  free(connection);
  return NULL;
}

static void on_acceptable(evutil_socket_t listener, short what, void *context) {
  struct intake *intake = context;
  (void)what;
  int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  porter_note(intake->parts.tally);
  struct intake_connection *connection = connection_new(intake, socket);
  if (connection == NULL) {
    intake->figures.refused++;
    close(socket);
    return;
  }
  connection->next = intake->connections;
  intake->connections = connection;
  intake->figures.connections++;
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

void intake_answer(struct intake_connection *connection, struct intake_reply *reply, int fd) {
  union control control;
  struct iovec piece = {reply, sizeof *reply};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  reply->magic = INTAKE_MAGIC;
  reply->version = INTAKE_VERSION;
  if (fd >= 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof fd);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  if (sendmsg(connection->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    log_debug("intake pid %d: answer lost: %s", (int)connection->pid, strerror(errno));
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
}
