/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a signal frame is saved CPU state; one file a CPU, chosen by CMake. */
#ifndef PRELOAD_FRAME_STATE_H
#define PRELOAD_FRAME_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

struct frame_state {
  size_t usual_bytes; /* of a thread that uses nothing which needs the kernel's permission */
  size_t most_bytes;  /* of a thread that uses all that the CPU has */
};

/* Both 0 where the size of a frame does not depend on the thread. */
void frame_state_read(struct frame_state *ret);

/* True when the kernel has permitted this process more than the usual state.  A system call. */
bool frame_state_is_permitted(void);

/* The system call by which a program asks for this permission when its first word is
   FRAME_STATE_REQUEST. */
#ifdef SYS_arch_prctl
enum { FRAME_STATE_CALL = SYS_arch_prctl, FRAME_STATE_REQUEST = 0x1023 };
#else
enum { FRAME_STATE_CALL = -1, FRAME_STATE_REQUEST = -1 };
#endif

#endif
