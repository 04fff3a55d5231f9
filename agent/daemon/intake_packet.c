/* SPDX-License-Identifier: Apache-2.0 */
/* Packets have a fixed size, so there is nothing to parse: only size, magic, version and string
   ends are checked.  Users of the numbers check their values (registrar_*.c, switchboard.c) and
   only compare them with limits.

   In a daemon for all users, any user may give a program any service name, including another
   user's.  A label that only the daemon sets, the kernel's uid, distinguishes them in every answer.

   Received descriptors are closed, with any packet and in any number, unless a handler keeps
   them. */
#include "intake_packet.h"

#include "intake/passed_fds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * INTAKE_FDS_MAX)];
};

int intake_packet_receive(int socket, struct intake_received *ret) {
  union control control;
  struct iovec piece = {&ret->request, sizeof ret->request};
  struct msghdr message = {.msg_iov = &piece,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return errno == EINTR ? -EAGAIN : -errno;
  /* Descriptors may arrive without data. */
  ret->fd_count = passed_fds_take(&message, ret->fds, INTAKE_FDS_MAX);
  ret->len = (size_t)got;
  ret->flags = message.msg_flags;
  if (got > 0 || ret->fd_count > 0) return 0;
  return -ECONNRESET;
}

void intake_packet_close(struct intake_received *packet) {
  for (unsigned i = 0; i < packet->fd_count; i++)
    if (packet->fds[i] >= 0) close(packet->fds[i]);
  packet->fd_count = 0;
}

static void end_strings(struct intake_request *request) {
  request->sampler[sizeof request->sampler - 1] = '\0';
  request->service[sizeof request->service - 1] = '\0';
  request->labels[sizeof request->labels - 1] = '\0';
  request->exe[sizeof request->exe - 1] = '\0';
  request->why[sizeof request->why - 1] = '\0';
  request->argv[sizeof request->argv - 1] = '\0';
}

const char *intake_packet_judge(struct intake_received *packet) {
  struct intake_request *request = &packet->request;
  if (packet->len != sizeof *request || (packet->flags & MSG_TRUNC))
    return "a packet of another size";
  if (packet->flags & MSG_CTRUNC) return "more descriptors than INTAKE_FDS_MAX";
  if (request->magic != INTAKE_MAGIC) return "no fleetprof packet";
  if (request->version != INTAKE_VERSION) return "another version of fleetprof";
  end_strings(request);
  return NULL;
}

void intake_packet_sign(struct intake_request *request, uint32_t uid) {
  static const char name[] = "uid=";
  char labels[INTAKE_LABELS_BYTES];
  size_t at = (size_t)snprintf(labels, sizeof labels, "%s%u", name, uid);
  for (const char *text = request->labels; *text != '\0';) {
    size_t len = strcspn(text, "\n");
    bool is_his = strncmp(text, name, sizeof name - 1) != 0;
    if (is_his && at + 1 + len < sizeof labels) {
      labels[at++] = '\n';
      memcpy(labels + at, text, len);
      at += len;
    }
    text += len + (text[len] == '\n');
  }
  labels[at] = '\0';
  memcpy(request->labels, labels, at + 1);
}
