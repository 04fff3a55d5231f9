/* SPDX-License-Identifier: Apache-2.0 */
/* A state directory for the duration of one run. */
#ifndef CLI_PRIVATE_STATE_H
#define CLI_PRIVATE_STATE_H

#include "paths.h"

/* Creates a directory (0700) in the first of TMPDIR, XDG_RUNTIME_DIR, /tmp, /var/tmp, /dev/shm and
   FALLBACK that is writable.  Returns 0 or -errno. */
int private_state_make(const char *fallback, struct path *ret);

/* Deletes directories that this user's killed runs have left in these places, except FALLBACK. */
void private_state_sweep(void);

/* Deletes the directory that private_state_make created, with the daemon's files in it. */
void private_state_remove(const char *dir);

#endif
