/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: reports the program's CPU cost to the daemon, and gets the fate of its
   samples. */
#ifndef CLI_FLUSH_H
#define CLI_FLUSH_H

#include "sampling_choice.h"

#include <sys/resource.h>

/* Reports to the daemon that the program of CHOICE has ended with USAGE, and waits for the answer
   within the timeout of the settings.  Retries if the daemon's worker restarts.  Returns 0 or
   -errno: the daemon is gone or does not answer; -ESTALE if another daemon answers, which has no
   record of the program. */
int flush(const struct sampling_choice *choice, const struct rusage *usage,
          struct intake_reply *ret);

#endif
