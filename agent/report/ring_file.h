/* SPDX-License-Identifier: Apache-2.0 */
/* A ring that outlived its program, a histogram or a flight recorder, read into a profile. */
#ifndef REPORT_RING_FILE_H
#define REPORT_RING_FILE_H

#include "profile.h"

enum { RING_FILE_WHY_BYTES = 256 };

/* Adds what the SIZE bytes of FD hold to PROFILE.  Returns 0; or -errno with WHY: -EBADMSG when it
   is no such ring or makes no sense, -EPROTO when a newer version wrote it, -EOVERFLOW over a
   limit. */
int ring_file_read(int fd, uint64_t size, struct profile *profile, char why[RING_FILE_WHY_BYTES]);

#endif
