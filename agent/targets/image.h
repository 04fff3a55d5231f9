/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the image table of a histogram's or recorder's ring (ring/image_format.h): who the process
   is, when it was alive, and what is mapped where. */
#ifndef TARGETS_IMAGE_H
#define TARGETS_IMAGE_H

#include "process_entry.h"
#include "target.h"

/* What a histogram needs counters for. */
struct image_code {
  uint64_t bytes;
  uint32_t regions;
};

/* Sums up PROCESS's mapped files. */
void image_measure(const struct process *process, struct image_code *ret);

/* Writes who TARGET is into its fresh ring; service and exe as PROCESS has them where the user said
   nothing. */
void image_begin(const struct target *target, const struct process *process);

/* Makes regions and modules of TARGET's ring those of PROCESS.  Returns 0, also when nothing had
   changed, or -ENOMEM. */
int image_update(const struct target *target, struct modules *modules, struct process *process);

/* The widest bins of TARGET, a histogram; 0 of another mode. */
uint64_t image_bin_bytes(const struct target *target);

/* Another rate is asked for than at the start: whoever takes TARGET's file on has to know. */
void image_wish(const struct target *target, uint32_t mhz);

/* TARGET's process is alive now. */
void image_stamp(const struct target *target);

#endif
