/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon of one `run --output`: a child process with a temporary state directory.  It writes to
   a file and has no collector. */
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
   -errno with the reason in WHY; then nothing is left behind. */
int private_daemon_start(const char *output, struct private_daemon *ret, struct path *ret_socket,
                         char *why, size_t why_len);

/* Stops the daemon, which writes its remaining data, and deletes its directory. */
void private_daemon_stop(struct private_daemon *daemon);

#endif
