/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon of one `run --output`: a child of ours with a temporary state directory, which writes
   into a file and knows no collector. */
#ifndef CLI_PRIVATE_DAEMON_H
#define CLI_PRIVATE_DAEMON_H

#include "paths.h"

#include <stddef.h>
#include <sys/types.h>

struct private_daemon {
  pid_t pid; /* 0: none was started */
  struct path state;
};

/* Starts a daemon that appends to OUTPUT and waits until it listens at RET_SOCKET.  Returns 0, or
   -errno with the reason in WHY; nothing is then left behind. */
int private_daemon_start(const char *output, struct private_daemon *ret, struct path *ret_socket,
                         char *why, size_t why_len);

/* Ends the daemon, which writes what it still holds, and takes its directory away. */
void private_daemon_stop(struct private_daemon *daemon);

#endif
