/* SPDX-License-Identifier: Apache-2.0 */
/* The size of the saved CPU state in a signal frame. One file for each CPU, chosen by CMake. */
#ifndef PRELOAD_FRAME_STATE_H
#define PRELOAD_FRAME_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

struct frame_state {
  size_t usual_bytes; /* of a thread that uses no state that needs the kernel's permission */
  size_t most_bytes;  /* of a thread that uses all state of the CPU */
};

/* Both are 0 on CPUs where the size of a frame does not depend on the thread. */
void frame_state_read(struct frame_state *ret);

/* True if the kernel has permitted this process more than the usual state. Makes a system call. */
bool frame_state_is_permitted(void);

/* The system call by which a program requests this permission, if its first word is
   FRAME_STATE_REQUEST. */
#ifdef SYS_arch_prctl
enum { FRAME_STATE_CALL = SYS_arch_prctl, FRAME_STATE_REQUEST = 0x1023 };
#else
enum { FRAME_STATE_CALL = -1, FRAME_STATE_REQUEST = -1 };
#endif

#endif
