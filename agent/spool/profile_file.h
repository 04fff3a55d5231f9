/* SPDX-License-Identifier: Apache-2.0 */
/* A profile in a file, instead of a spool and a collector: the row of entries of
   proto/spool_segment.h, a MARK of run 0 at its head, then a BATCH for each closed window.  It can
   be read up to its last whole entry at any time.  A MARK with a payload holds names of functions
   (report/function_names.h), written when the run is over: readers of before pass over it. */
#ifndef SPOOL_PROFILE_FILE_H
#define SPOOL_PROFILE_FILE_H

#include <stdint.h>

struct spool_item;

struct profile_file {
  int fd; /* borrowed from whoever opened it; -1: there is none */
  uint64_t end;
  uint64_t last_run, last_seq; /* of the newest batch in it, 0 when there is none */
};

/* Opens PATH for profile_file_resume, made when absent.  Returns the descriptor, or -errno: -EINVAL
   when it is no regular file. */
int profile_file_open(const char *path);

/* Reads what is in FD, cuts off what a dying writer left unfinished, writes the head into an empty
   file.  Returns 0; -EBADMSG when it holds something else than a profile, and is left as it is; or
   -errno. */
int profile_file_resume(int fd, struct profile_file *ret);

/* Appends one batch.  Returns 0, or -errno when the disk refused: the file is then as before. */
int profile_file_append(struct profile_file *file, const struct spool_item *item);

/* Newest seq of RUN in the file, 0 when none: as spool_last_seq. */
uint64_t profile_file_last_seq(const struct profile_file *file, uint64_t run);

#endif
