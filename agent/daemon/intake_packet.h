/* SPDX-License-Identifier: Apache-2.0 */
/* One packet of intake_format.h as a stranger sent it: taken from its socket whole, and judged. */
#ifndef DAEMON_INTAKE_PACKET_H
#define DAEMON_INTAKE_PACKET_H

#include "intake/intake_format.h"

#include <stddef.h>

struct intake_received {
  struct intake_request request;
  size_t len; /* as it was sent, up to that of the struct */
  int flags;  /* recvmsg's */
  int fds[INTAKE_FDS_MAX];
  unsigned fd_count;
};

/* Takes one packet from SOCKET, which does not block.  Returns 0, -EAGAIN when there is none,
   -ECONNRESET at the end; -errno. */
int intake_packet_receive(int socket, struct intake_received *ret);
/* Closes the descriptors that came along; those that were kept are -1 by now. */
void intake_packet_close(struct intake_received *packet);

/* What is wrong with PACKET, or NULL: then each of its strings ends within its field.  Pure. */
const char *intake_packet_judge(struct intake_received *packet);

/* Puts "uid=UID" in front of REQUEST's labels; what it says itself of a uid is left out, and so are
   labels that find no room any more. */
void intake_packet_sign(struct intake_request *request, uint32_t uid);

#endif
