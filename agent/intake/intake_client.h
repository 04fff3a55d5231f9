/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one request to the daemon and reads its answer, blocking, with a deadline.  The command
   line and the preload's constructor use it: it needs only libc, allocates nothing and leaves no
   descriptor open that it does not return. */
#ifndef INTAKE_INTAKE_CLIENT_H
#define INTAKE_INTAKE_CLIENT_H

#include "intake_format.h"

#include <stdbool.h>
#include <stdint.h>

struct intake_call {
  const struct intake_request *request; /* borrowed; initialized by intake_client_request */
  const int *fds;                       /* borrowed; sent with it */
  unsigned fd_count;                    /* at most INTAKE_FDS_MAX */
  uint32_t timeout_ms;
  bool takes_more; /* accepts more than one descriptor */
};

enum { INTAKE_ANSWER_MORE = 2 };

struct intake_answer {
  struct intake_reply reply;    /* strings are NUL-terminated */
  int fd;                       /* the descriptor sent with it, which the caller closes; or -1 */
  int more[INTAKE_ANSWER_MORE]; /* further descriptors, with takes_more; or -1 */
  int32_t daemon;               /* pid of the listening supervisor; 0: unknown */
};

/* Zeroes REQUEST and makes it a request of KIND. */
void intake_client_request(struct intake_request *request, enum intake_kind kind);

/* Connects to the socket at PATH, which may be longer than sun_path.  The descriptor is
   close-on-exec.  Returns 0 or -errno: -ENOENT and -ECONNREFUSED if there is no listener,
   -ETIMEDOUT if the listener had no room for TIMEOUT_MS, and -ENAMETOOLONG if the last component of
   PATH is too long. */
int intake_client_connect(const char *path, uint32_t timeout_ms, int *ret_fd);

/* Sends CALL over SOCKET and waits for the answer.  Returns 0 or -errno: -ETIMEDOUT, -ECONNRESET if
   the daemon exited, -EBADMSG for an answer of wrong size or magic, -EPROTO for another version.  A
   rejection is an answer (kind INTAKE_REFUSED). */
int intake_client_call(int socket, const struct intake_call *call, struct intake_answer *ret);

#endif
