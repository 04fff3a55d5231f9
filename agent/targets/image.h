/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the image table of a histogram's or recorder's ring (ring/image_format.h): the process's
   identity, when it was alive, and its mapped files. */
#ifndef TARGETS_IMAGE_H
#define TARGETS_IMAGE_H

#include "process_entry.h"
#include "target.h"

/* The code that a histogram needs counters for. */
struct image_code {
  uint64_t bytes;
  uint32_t regions;
};

/* Sums up PROCESS's mapped files. */
void image_measure(const struct process *process, struct image_code *ret);

/* Writes TARGET's identity into its fresh ring; service and exe are PROCESS's if the user set
   none. */
void image_begin(const struct target *target, const struct process *process);

/* Sets regions and modules of TARGET's ring to those of PROCESS. Returns 0, also without a change,
   or -ENOMEM. */
int image_update(const struct target *target, struct modules *modules, struct process *process);

/* The widest bins of TARGET, a histogram; 0 in other modes. */
uint64_t image_bin_bytes(const struct target *target);

/* Stores a requested rate that differs from the initial one, for the next daemon that takes over
   TARGET's file. */
void image_wish(const struct target *target, uint32_t mhz);

/* Records that TARGET's process is alive now. */
void image_stamp(const struct target *target);

#endif
