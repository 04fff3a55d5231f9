/* SPDX-License-Identifier: Apache-2.0 */
/* A file of `fleetprof run --output`, or a histogram or flight recorder that its program left, read
   into a profile. */
#ifndef REPORT_PROFILE_READER_H
#define REPORT_PROFILE_READER_H

#include "profile.h"

enum { PROFILE_READER_WHY_BYTES = 256 };

/* What could not be read although the file is a profile. */
struct profile_damage {
  uint64_t torn_bytes;    /* at the end: the writer was killed in mid-write */
  uint64_t damaged_bytes; /* in between */
  uint64_t bad_batches;   /* whole, but with a wrong checksum or malformed inside */
  uint64_t good_batches;  /* that were added */
  uint64_t known_batches; /* that were in an earlier file, or in this one before */
  uint64_t bad_names;     /* entries of names that were damaged, or too large */
  bool is_empty;          /* not a byte is in it */
  bool is_unfinished;     /* a run's last word is missing: it was killed, or still runs */
};

/* Adds what is in the file at PATH to PROFILE.  Returns 0 with RET; or -errno with WHY saying what
   is wrong with the file: -EBADMSG when it is no profile, -EPROTO when a newer version wrote it,
   -EOVERFLOW when it holds more than a report can. */
int profile_reader_read(const char *path, struct profile *profile, struct profile_damage *ret,
                        char why[PROFILE_READER_WHY_BYTES]);

/* The same of the open file FD. */
int profile_reader_read_fd(int fd, struct profile *profile, struct profile_damage *ret,
                           char why[PROFILE_READER_WHY_BYTES]);

#endif
