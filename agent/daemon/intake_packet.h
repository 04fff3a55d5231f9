/* SPDX-License-Identifier: Apache-2.0 */
/* Receives and checks one packet of intake_format.h from an untrusted peer. */
#ifndef DAEMON_INTAKE_PACKET_H
#define DAEMON_INTAKE_PACKET_H

#include "intake/intake_format.h"

#include <stddef.h>

struct intake_received {
  struct intake_request request;
  size_t len; /* as sent, up to the size of the struct */
  int flags;  /* recvmsg's */
  int fds[INTAKE_FDS_MAX];
  unsigned fd_count;
};

/* Reads one packet from SOCKET, which is non-blocking.  Returns 0, -EAGAIN if there is none,
   -ECONNRESET at the end, or -errno. */
int intake_packet_receive(int socket, struct intake_received *ret);
/* Closes the received descriptors; entries set to -1 were kept. */
void intake_packet_close(struct intake_received *packet);

/* Returns the fault of PACKET, or NULL: then each string is terminated within its field.  Pure. */
const char *intake_packet_judge(struct intake_received *packet);

/* Prepends "uid=UID" to REQUEST's labels.  Its own labels named uid are removed, and so are labels
   that no longer fit. */
void intake_packet_sign(struct intake_request *request, uint32_t uid);

#endif
