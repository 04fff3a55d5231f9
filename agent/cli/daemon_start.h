/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon to talk to: one that runs, or one started on demand. */
#ifndef CLI_DAEMON_START_H
#define CLI_DAEMON_START_H

#include "paths.h"

#include <stdbool.h>
#include <stddef.h>

struct daemon_wish {
  const char *state;     /* NULL: the usual places */
  const char *collector; /* NULL: the daemon's own setting */
  bool is_talkative;     /* the starter's own errors may go to stderr */
};

/* Finds the socket of a daemon that listens.  Returns 0 or -errno (-ENOENT: none anywhere). */
int daemon_find(const char *state, struct path *ret_socket);

/* As daemon_find; when none listens, starts one and waits until it does.  Returns 0, or -errno with
   the reason as text in WHY. */
int daemon_start(const struct daemon_wish *wish, struct path *ret_socket, char *why,
                 size_t why_len);

/* In a child that will be a daemon: takes our variables out of the environment, but for the
   daemon's own, and keeps a preload from sampling it. */
void daemon_start_environment(void);

#endif
