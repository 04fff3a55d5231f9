/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time of this machine since boot, over all CPUs. */
#ifndef PROC_PROC_BOARD_H
#define PROC_PROC_BOARD_H

#include "common/span.h"

struct proc_board {
  uint64_t busy_ns;      /* includes the stolen time */
  uint64_t stolen_ns;    /* runnable, but the hypervisor ran others */
  uint64_t interrupt_ns; /* 0 if the kernel counts interrupts by its tick, as part of the
                            interrupted task */
};

/* Parses the text of /proc/stat.  Returns 0 or -EBADMSG.  Pure. */
int proc_board_parse(struct span text, struct proc_board *ret);

/* Returns 0, or -errno with all fields 0. */
int proc_board_read(struct proc_board *ret);

#endif
