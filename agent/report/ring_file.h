/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a ring that outlived its program, a histogram or a flight recorder, into a profile. */
#ifndef REPORT_RING_FILE_H
#define REPORT_RING_FILE_H

#include "profile.h"

enum { RING_FILE_WHY_BYTES = 256 };

/* Adds the SIZE bytes of FD to PROFILE.  Returns 0; or -errno with WHY: -EBADMSG if it is not a
   ring or is inconsistent, -EPROTO if a newer version wrote it, -EOVERFLOW over a limit. */
int ring_file_read(int fd, uint64_t size, struct profile *profile, char why[RING_FILE_WHY_BYTES]);

#endif
