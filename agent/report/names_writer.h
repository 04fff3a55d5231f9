/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the names of the functions that were sampled into the profile file they were sampled for.
 */
#ifndef REPORT_NAMES_WRITER_H
#define REPORT_NAMES_WRITER_H

#include "profile.h"

struct namer;

struct names_written {
  uint64_t functions; /* of which the file says more than before */
  uint32_t modules;   /* that they belong to */
  uint32_t late;      /* modules that were not looked at: the time was up, or there was no room */
};

/* Appends to FD, a file of `run --output` whose samples are in PROFILE, what NAMER knows of their
   functions and PROFILE's files do not: heaviest module first, none begun after DEADLINE_NS of
   CLOCK_MONOTONIC.  Nobody else may write into the file meanwhile.  Returns 0 with RET, or -errno:
   -EBADMSG when FD is no such file; what was in it stays whole. */
int names_writer_write(int fd, const struct profile *profile, struct namer *namer,
                       uint64_t deadline_ns, struct names_written *ret);

#endif
