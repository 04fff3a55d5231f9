/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to one or two descriptors with readers that may depend on each other. */
#ifndef REPORT_TWO_PIPES_H
#define REPORT_TWO_PIPES_H

#include "common/span.h"

struct pipe_end {
  int fd; /* -1: unused */
  struct span bytes;
};

/* Writes each end's bytes and closes it, whichever is writable first, until both are done.  A
   reader that exits ends only its own side (the caller ignores SIGPIPE).  Returns 0 or -errno. */
int two_pipes_write(struct pipe_end ends[2]);

#endif
