/* SPDX-License-Identifier: Apache-2.0 */
/* One question to the daemon and its answer, blocking, with a deadline.  Used by the command line
   and by the preload's constructor: it needs nothing but libc, allocates nothing and leaves no
   descriptor behind that it does not return. */
#ifndef INTAKE_INTAKE_CLIENT_H
#define INTAKE_INTAKE_CLIENT_H

#include "intake_format.h"

#include <stdbool.h>
#include <stdint.h>

struct intake_call {
  const struct intake_request *request; /* borrowed; magic and version are filled by the caller
                                           through intake_client_request */
  const int *fds;                       /* borrowed; sent beside it */
  unsigned fd_count;                    /* at most INTAKE_FDS_MAX */
  uint32_t timeout_ms;
  bool takes_more; /* descriptors than one */
};

enum { INTAKE_ANSWER_MORE = 2 };

struct intake_answer {
  struct intake_reply reply;    /* strings are NUL-terminated */
  int fd;                       /* the one sent beside it, the caller's to close; or -1 */
  int more[INTAKE_ANSWER_MORE]; /* those behind it, for who takes them; or -1 */
  int32_t daemon;               /* pid of the keeper that listens; 0: not asked for, or not known */
};

/* Zeroes REQUEST and makes it one of KIND. */
void intake_client_request(struct intake_request *request, enum intake_kind kind);

/* Connects to the socket at PATH, which may be longer than sun_path holds.  The descriptor is
   close-on-exec.  Returns 0 or -errno: -ENOENT and -ECONNREFUSED when nobody listens, -ETIMEDOUT
   when the listener had no room for TIMEOUT_MS, -ENAMETOOLONG when even the last part of PATH is
   too long. */
int intake_client_connect(const char *path, uint32_t timeout_ms, int *ret_fd);

/* Sends CALL over SOCKET and waits for the answer.  Returns 0 or -errno: -ETIMEDOUT, -ECONNRESET
   when the daemon went away, -EBADMSG for an answer of a wrong size or magic, -EPROTO for another
   version.  A refusal is an answer (kind INTAKE_REFUSED). */
int intake_client_call(int socket, const struct intake_call *call, struct intake_answer *ret);

#endif
