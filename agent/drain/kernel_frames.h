/* SPDX-License-Identifier: Apache-2.0 */
/* Converts kernel addresses to frames. */
#ifndef DRAIN_KERNEL_FRAMES_H
#define DRAIN_KERNEL_FRAMES_H

#include "elf/kernel_layout.h"
#include "targets/process_entry.h"

/* All-zero is valid, and closed: everything is [kernel]. */
struct kernel_frames {
  struct modules *modules;
  struct kernel_layout layout;
  uint32_t *rows; /* of modules, one for each piece */
  uint64_t read_ns;
};

/* Reads the kernel's layout, unless FRAMES are already open. If it is unavailable, layout.why has
   the reason and all frames are [kernel]. */
void kernel_frames_open(struct kernel_frames *frames, struct modules *modules);
void kernel_frames_close(struct kernel_frames *frames);

/* Converts COUNT addresses, leaf first, into frames; callers get the return address minus one.
   Consecutive addresses without a better name become one [kernel]. Returns the number of frames, at
   most COUNT, 0 only for no addresses. */
uint32_t kernel_frames_resolve(struct kernel_frames *frames, const uint64_t *addresses,
                               uint32_t count, struct code_frame *ret);

/* Marks its modules for a sweep. */
void kernel_frames_mark(const struct kernel_frames *frames);

#endif
