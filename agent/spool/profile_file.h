/* SPDX-License-Identifier: Apache-2.0 */
/* A profile in a file, instead of a spool and a collector.  It has the entries of
   proto/spool_segment.h: a MARK of run 0 as its head, then a BATCH per closed window.  It can be
   read up to its last complete entry at any time.  A MARK with a payload has names of functions
   (report/function_names.h), written when the run is over; older readers skip it. */
#ifndef SPOOL_PROFILE_FILE_H
#define SPOOL_PROFILE_FILE_H

#include <stdint.h>

struct spool_item;

struct profile_file {
  int fd; /* borrowed; -1: none */
  uint64_t end;
  uint64_t last_run, last_seq; /* of its newest batch, 0 if none */
};

/* Opens PATH for profile_file_resume; creates it if it is missing.  Returns the descriptor, or
   -errno: -EINVAL if it is not a regular file. */
int profile_file_open(const char *path);

/* Reads FD, truncates the incomplete entry of a killed writer, and writes the head into an empty
   file.  Returns 0; -EBADMSG if it is not a profile, and is unchanged; or -errno. */
int profile_file_resume(int fd, struct profile_file *ret);

/* Appends one batch.  Returns 0, or -errno if the write failed: the file is then unchanged. */
int profile_file_append(struct profile_file *file, const struct spool_item *item);

/* The newest seq of RUN in the file, 0 if none, as spool_last_seq. */
uint64_t profile_file_last_seq(const struct profile_file *file, uint64_t run);

#endif
