/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to one or two descriptors whose readers may wait for each other. */
#ifndef REPORT_TWO_PIPES_H
#define REPORT_TWO_PIPES_H

#include "common/span.h"

struct pipe_end {
  int fd; /* -1: there is none */
  struct span bytes;
};

/* Writes each end's bytes and closes it, whichever can be written to first, until both are done.  A
   reader that goes away ends its own side only (SIGPIPE is
   ignored by the caller).  Returns 0 or -errno. */
int two_pipes_write(struct pipe_end ends[2]);

#endif
