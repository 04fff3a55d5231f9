/* SPDX-License-Identifier: Apache-2.0 */
/* From one root to the next, as files of DIR/ca; each step is whole or was not made.  For use
   beside a running collector, which notices (ca_refresh). */
#ifndef IDENTITY_ROLLOVER_H
#define IDENTITY_ROLLOVER_H

#include <stddef.h>

/* Makes the second root, or takes the one that was put there as next.key and next.pem.  Returns 0,
   1 when it was there already, or -errno with one line in ERROR. */
int rollover_start(const char *dir, char *error, size_t error_len);

/* Makes the second root the only one and forgets the first one's key.  Returns 0, -ENOENT when no
   rollover is under way, or -errno with one line in ERROR. */
int rollover_finish(const char *dir, char *error, size_t error_len);

/* Goes on where a rollover_finish was cut off, when one was.  With the lock of the files held.
   Returns 0 or -errno. */
int rollover_settle(const char *dir);

#endif
