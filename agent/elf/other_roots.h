/* SPDX-License-Identifier: Apache-2.0 */
/* The root directories of processes that see other files than we do: in containers, and wherever a
   mount is somebody's own. */
#ifndef ELF_OTHER_ROOTS_H
#define ELF_OTHER_ROOTS_H

#include <sys/types.h>

enum { OTHER_ROOTS_MAX = 32 };

struct other_roots {
  pid_t pids[OTHER_ROOTS_MAX]; /* a process of each: its root is /proc/PID/root while it lives */
  unsigned count;
};

/* Finds those that live now and that we may look into, the first OTHER_ROOTS_MAX. */
void other_roots_find(struct other_roots *ret);

#endif
