/* SPDX-License-Identifier: Apache-2.0 */
/* The change from one root to the next, as files of DIR/ca; each step is atomic. For use beside a
   running collector, which notices the change (ca_refresh). */
#ifndef IDENTITY_ROLLOVER_H
#define IDENTITY_ROLLOVER_H

#include <stddef.h>

/* Makes the second root, or uses the one that was put there as next.key and next.pem. Returns 0, 1
   if it existed already, or -errno with one line in ERROR. */
int rollover_start(const char *dir, char *error, size_t error_len);

/* Makes the second root the only one and deletes the first one's key. Returns 0, -ENOENT if no
   rollover is in progress, or -errno with one line in ERROR. */
int rollover_finish(const char *dir, char *error, size_t error_len);

/* Completes an interrupted rollover_finish, if any. With the lock of the files held. Returns 0 or
   -errno. */
int rollover_settle(const char *dir);

#endif
