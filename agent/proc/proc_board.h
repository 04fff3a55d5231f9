/* SPDX-License-Identifier: Apache-2.0 */
/* What all CPUs of this machine did since it started. */
#ifndef PROC_PROC_BOARD_H
#define PROC_PROC_BOARD_H

#include "common/span.h"

struct proc_board {
  uint64_t busy_ns;      /* the stolen time is in it */
  uint64_t stolen_ns;    /* runnable, but the hypervisor ran others */
  uint64_t interrupt_ns; /* 0 where the kernel counts them by its tick, as part of what they met */
};

/* Reads the text of /proc/stat.  Returns 0 or -EBADMSG.  Pure. */
int proc_board_parse(struct span text, struct proc_board *ret);

/* Returns 0 or -errno; all is 0 then. */
int proc_board_read(struct proc_board *ret);

#endif
