/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a profile: a file of `fleetprof run --output`, or a histogram or flight recorder of an
   ended program. */
#ifndef REPORT_PROFILE_READER_H
#define REPORT_PROFILE_READER_H

#include "profile.h"

enum { PROFILE_READER_WHY_BYTES = 256 };

/* Unreadable parts of a valid profile. */
struct profile_damage {
  uint64_t torn_bytes;    /* at the end: the writer was killed while writing */
  uint64_t damaged_bytes; /* elsewhere */
  uint64_t bad_batches;   /* complete, but malformed or with a wrong checksum */
  uint64_t good_batches;  /* batches added */
  uint64_t known_batches; /* batches that were in an earlier file, or earlier in this one */
  uint64_t bad_names;     /* damaged or too large name entries */
  bool is_empty;          /* the file has no bytes */
  bool is_unfinished;     /* the run's final entry is missing: it was killed, or still runs */
};

/* Adds the file at PATH to PROFILE.  Returns 0 with RET; or -errno with the reason in WHY: -EBADMSG
   if it is not a profile, -EPROTO if a newer version wrote it, -EOVERFLOW if it exceeds the limits
   of a report. */
int profile_reader_read(const char *path, struct profile *profile, struct profile_damage *ret,
                        char why[PROFILE_READER_WHY_BYTES]);

/* As profile_reader_read, for the open file FD. */
int profile_reader_read_fd(int fd, struct profile *profile, struct profile_damage *ret,
                           char why[PROFILE_READER_WHY_BYTES]);

#endif
