/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: the daemon hears what the program cost and says what became of its samples. */
#ifndef CLI_FLUSH_H
#define CLI_FLUSH_H

#include "sampling_choice.h"

#include <sys/resource.h>

/* Tells the daemon that the program of CHOICE has ended with USAGE, and waits for its answer no
   longer than the settings allow, over a restart of the daemon's worker if need be.  Returns 0 or
   -errno: the daemon is gone, or silent; -ESTALE: another one answers, which does not know the
   program. */
int flush(const struct sampling_choice *choice, const struct rusage *usage,
          struct intake_reply *ret);

#endif
