/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events that `fleetprof run` opens on a program and that the daemon drains.  Both sides
   take them from here, because an event can be redirected into another's ring (SET_OUTPUT) only
   when both use the same clock, and its records can be read only with the same sample_type. */
#ifndef INTAKE_PERF_ATTR_H
#define INTAKE_PERF_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What every sample record begins with, in this order: IDENTIFIER, IP, TID, TIME, STREAM_ID,
   PERIOD.  It goes on as enum perf_content says.  Every other record ends in TID, TIME, STREAM_ID,
   IDENTIFIER (sample_id_all). */
#define PERF_ATTR_SAMPLE_HEAD                                                     \
  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_PERIOD)
#define PERF_ATTR_SAMPLE_TYPE (PERF_ATTR_SAMPLE_HEAD | PERF_SAMPLE_CALLCHAIN)

/* How the callers get into a sample. */
enum perf_content {
  PERF_CONTENT_CHAIN = 0, /* CALLCHAIN: the kernel has followed frame pointers */
  PERF_CONTENT_PAIR,      /* pc-lr: REGS_USER and STACK_USER as struct perf_regs says */
  PERF_CONTENT_PC = 3,    /* not at all */
  /* CALLCHAIN, REGS_USER (struct perf_walk_regs) and a piece of the stack.  2 was the same
     without a chain: its events must not be read as these. */
  PERF_CONTENT_COPY = 4,

  /* A flag on any of these: the kernel is sampled as well.  The CALLCHAIN then begins with the
     kernel's own callers.  It comes before the registers.  A pair in the kernel is a lone PC. */
  PERF_CONTENT_KERNEL = 8,
};

/* CONTENT without the flag. */
static inline enum perf_content perf_content_callers(uint32_t content) {
  return (enum perf_content)(content & ~(uint32_t)PERF_CONTENT_KERNEL);
}

enum {
  PERF_ATTR_STACK_DEPTH = 127, /* the kernel's own default, LIMIT_STACK_DEPTH less the PC */
  /* Of a stack that is copied.  The kernel takes that much of its ring for each sample, however
     little there is to copy.  At the rate below half of a ring of PERF_RING_PAGES lasts 32 ms. */
  PERF_ATTR_COPY_BYTES_MAX = 16384,
  PERF_ATTR_COPY_BYTES_MIN = 256,
  PERF_ATTR_COPY_BYTES_A_SECOND = 8 << 20,
};

/* Fills RET with the event of a target: user-mode CPU time of a process tree from its next exec,
   one sample each PERIOD_NS. */
void perf_attr_fill(struct perf_event_attr *ret, uint64_t period_ns);

/* Makes ATTR's period up to a fiftieth longer or shorter, at random. */
void perf_attr_vary(struct perf_event_attr *attr);

/* Fills RET with the event of a whole board, to be opened for all processes (-1) on each CPU: user
   and kernel time of whatever runs there but the idle task, one sample each PERIOD_NS. */
void perf_attr_fill_board(struct perf_event_attr *ret, uint64_t period_ns);

/* Makes ATTR, the event of a target, one of all processes (-1) on a CPU. */
void perf_attr_widen(struct perf_event_attr *attr);

/* Makes ATTR's samples hold CONTENT; its period decides how much of a stack is copied.  With
   PERF_CONTENT_KERNEL ATTR samples the kernel too. */
void perf_attr_ask(struct perf_event_attr *attr, enum perf_content content);

/* What samples hold of pairs, or of stacks whose callers are found as CHOICE says (enum
   unwind_choice), on this kernel. */
enum perf_content perf_attr_content(bool is_pair, uint32_t choice);

/* Whether the caller's events may sample the kernel: as root, with CAP_PERFMON (before Linux 5.8
   CAP_SYS_ADMIN), or where perf_event_paranoid is at most 1. */
bool perf_attr_may_see_kernel(void);

/* Makes ATTR, of a program that runs already, begin when it is told and not at an exec. */
void perf_attr_wait_for_enable(struct perf_event_attr *attr);

/* Fills RET with an event that never counts and whose ring others' events are redirected into: the
   daemon opens one a CPU on itself. */
void perf_attr_fill_anchor(struct perf_event_attr *ret);

/* Fills RET with the event that counts all CPU time of a target's tree and tells of each task's
   end; to be opened on all CPUs (-1), like its anchor, an event on the same program that never
   counts and whose ring it is sent into. */
void perf_attr_fill_exits(struct perf_event_attr *ret);
void perf_attr_fill_exits_anchor(struct perf_event_attr *ret);

/* Opens these two on PID, the anchor first; the second begins at an exec, or, of a program that
   IS_RUNNING, when it is told.  Returns 0 or -errno: without them the time of short processes is
   known only in sum. */
int perf_attr_open_exits(pid_t pid, bool is_running, int ret_fds[2]);

/* Opens ATTR on PID (0: the caller) on CPU, close-on-exec; where the kernel knows or allows no
   stack depth of ours, its default is taken.  Returns the descriptor or -errno. */
int perf_attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

#endif
