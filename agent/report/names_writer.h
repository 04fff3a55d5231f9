/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the names of sampled functions into their profile file. */
#ifndef REPORT_NAMES_WRITER_H
#define REPORT_NAMES_WRITER_H

#include "profile.h"

struct namer;

struct names_written {
  uint64_t functions; /* functions with new or better names */
  uint32_t modules;   /* the modules of these functions */
  uint32_t late;      /* modules that were skipped: the deadline had passed, or there was no room */
};

/* Appends names to FD, the file of `run --output` that PROFILE was read from.  It writes names that
   NAMER finds and PROFILE's files lack, heaviest module first.  No module is begun after
   DEADLINE_NS of CLOCK_MONOTONIC.  No other process may write to the file meanwhile.  Returns 0
   with RET, or -errno: -EBADMSG if FD is not a profile file.  The existing content stays intact. */
int names_writer_write(int fd, const struct profile *profile, struct namer *namer,
                       uint64_t deadline_ns, struct names_written *ret);

#endif
