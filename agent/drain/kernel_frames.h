/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in the kernel as frames. */
#ifndef DRAIN_KERNEL_FRAMES_H
#define DRAIN_KERNEL_FRAMES_H

#include "elf/kernel_layout.h"
#include "targets/process_entry.h"

/* All-zero is valid, and closed: everything is [kernel]. */
struct kernel_frames {
  struct modules *modules;
  struct kernel_layout layout;
  uint32_t *rows; /* of modules, one a piece */
  uint64_t read_ns;
};

/* Reads where the kernel is, unless FRAMES are open already.  Where it does not say, layout.why has
   the reason and all its frames are [kernel]. */
void kernel_frames_open(struct kernel_frames *frames, struct modules *modules);
void kernel_frames_close(struct kernel_frames *frames);

/* Turns COUNT addresses, leaf first, into frames; callers get the address before the one they
   return to.  What has no better name is one [kernel], however many addresses there are.  Returns
   the number of frames, at most COUNT, 0 only for no addresses. */
uint32_t kernel_frames_resolve(struct kernel_frames *frames, const uint64_t *addresses,
                               uint32_t count, struct code_frame *ret);

/* Keeps its modules through a sweep. */
void kernel_frames_mark(const struct kernel_frames *frames);

#endif
