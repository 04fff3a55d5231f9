/* SPDX-License-Identifier: Apache-2.0 */
/* A state directory for the time of one run. */
#ifndef CLI_PRIVATE_STATE_H
#define CLI_PRIVATE_STATE_H

#include "paths.h"

/* Makes one (0700) in TMPDIR, XDG_RUNTIME_DIR, /tmp, /var/tmp, /dev/shm or FALLBACK, the first that
   can be written to.  Returns 0 or -errno. */
int private_state_make(const char *fallback, struct path *ret);

/* Takes away what runs of this user that were killed have left in these, but for FALLBACK. */
void private_state_sweep(void);

/* Removes the directory that private_state_make made, with what a daemon keeps there. */
void private_state_remove(const char *dir);

#endif
