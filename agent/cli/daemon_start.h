/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a running daemon, or starts one on demand. */
#ifndef CLI_DAEMON_START_H
#define CLI_DAEMON_START_H

#include "paths.h"

#include <stdbool.h>
#include <stddef.h>

struct daemon_wish {
  const char *state;     /* NULL: the usual places */
  const char *collector; /* NULL: the daemon's own setting */
  bool is_talkative;     /* the new daemon's errors may be printed on stderr */
};

/* Finds the socket of a daemon that listens.  Returns 0 or -errno (-ENOENT if there is none). */
int daemon_find(const char *state, struct path *ret_socket);

/* As daemon_find, but if no daemon listens, starts one and waits until it does.  Returns 0, or
   -errno with the reason as text in WHY. */
int daemon_start(const struct daemon_wish *wish, struct path *ret_socket, char *why,
                 size_t why_len);

/* Call in the child that becomes a daemon.  Removes FLEETPROF variables from the environment,
   except the daemon's own, and keeps a preloaded agent from sampling the daemon. */
void daemon_start_environment(void);

#endif
