/* SPDX-License-Identifier: Apache-2.0 */
/* The root directories of processes with other mounts than the daemon's: in containers, and with
   private mounts. */
#ifndef ELF_OTHER_ROOTS_H
#define ELF_OTHER_ROOTS_H

#include <sys/types.h>

enum { OTHER_ROOTS_MAX = 32 };

struct other_roots {
  pid_t pids[OTHER_ROOTS_MAX]; /* a process for each: its root is /proc/PID/root while it lives */
  unsigned count;
};

/* Finds the first OTHER_ROOTS_MAX that live now and that the daemon may inspect. */
void other_roots_find(struct other_roots *ret);

#endif
