/* SPDX-License-Identifier: Apache-2.0 */
/* The intake's listening socket in a runtime directory. */
#ifndef KEEPER_LISTENER_H
#define KEEPER_LISTENER_H

#include <stdbool.h>

/* Listens at DIR/fleetprofd.sock, whatever the length of DIR; replaces a dead daemon's socket (the
   caller holds the lock).  FOR_ALL permits all users.  Returns the descriptor (non-blocking,
   close-on-exec) or -errno. */
int listener_open(const char *dir, bool for_all);

/* Closes it and removes its name. */
void listener_close(int listener, const char *dir);

#endif
