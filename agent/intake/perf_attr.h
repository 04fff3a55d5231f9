/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events that `fleetprof run` opens on a program and that the daemon drains.  Both use
   these definitions.  An event can be redirected into another's ring (SET_OUTPUT) only if both use
   the same clock.  Its records can be read only with the same sample_type. */
#ifndef INTAKE_PERF_ATTR_H
#define INTAKE_PERF_ATTR_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The first fields of every sample record, in this order: IDENTIFIER, IP, TID, TIME, STREAM_ID,
   PERIOD.  enum perf_content defines the rest.  Every other record ends in TID, TIME, STREAM_ID,
   IDENTIFIER (sample_id_all). */
#define PERF_ATTR_SAMPLE_HEAD                                                     \
  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_PERIOD)
#define PERF_ATTR_SAMPLE_TYPE (PERF_ATTR_SAMPLE_HEAD | PERF_SAMPLE_CALLCHAIN)

/* How a sample contains the callers. */
enum perf_content {
  PERF_CONTENT_CHAIN = 0, /* CALLCHAIN: the kernel has followed frame pointers */
  PERF_CONTENT_PAIR,      /* pc-lr: REGS_USER and STACK_USER according to struct perf_regs */
  PERF_CONTENT_PC = 3,    /* no callers */
  /* CALLCHAIN, REGS_USER (struct perf_walk_regs) and a part of the stack.  2 was the same without a
     chain: its events must not be read as these. */
  PERF_CONTENT_COPY = 4,

  /* A flag on any of these: the kernel is sampled, too.  The CALLCHAIN then begins with the
     kernel's own callers.  It comes before the registers.  A pair in the kernel is a lone PC. */
  PERF_CONTENT_KERNEL = 8,
};

/* CONTENT without the flag. */
static inline enum perf_content perf_content_callers(uint32_t content) {
  return (enum perf_content)(content & ~(uint32_t)PERF_CONTENT_KERNEL);
}

enum {
  PERF_ATTR_STACK_DEPTH = 127, /* the kernel's own default, LIMIT_STACK_DEPTH less the PC */
  /* Size of a copied stack.  The kernel reserves that much of its ring for each sample, however
     little there is to copy.  At the rate below, half of a ring of PERF_RING_PAGES lasts 32 ms. */
  PERF_ATTR_COPY_BYTES_MAX = 16384,
  PERF_ATTR_COPY_BYTES_MIN = 256,
  PERF_ATTR_COPY_BYTES_A_SECOND = 8 << 20,
};

/* Fills in RET for a target: user-mode CPU time of a process tree from its next exec, one sample
   per PERIOD_NS. */
void perf_attr_fill(struct perf_event_attr *ret, uint64_t period_ns);

/* Changes ATTR's period by up to 2 % in either direction, at random. */
void perf_attr_vary(struct perf_event_attr *attr);

/* Fills in RET for a whole board, to be opened for all processes (-1) on each CPU: user and kernel
   time of everything except the idle task, one sample per PERIOD_NS. */
void perf_attr_fill_board(struct perf_event_attr *ret, uint64_t period_ns);

/* Changes ATTR, the event of a target, to all processes (-1) on a CPU. */
void perf_attr_widen(struct perf_event_attr *attr);

/* Sets the contents of ATTR's samples to CONTENT; its period determines the size of a copied stack.
   With PERF_CONTENT_KERNEL, ATTR samples the kernel too. */
void perf_attr_ask(struct perf_event_attr *attr, enum perf_content content);

/* The contents of samples on this kernel, for pairs, or for stacks with callers by CHOICE (enum
   unwind_choice). */
enum perf_content perf_attr_content(bool is_pair, uint32_t choice);

/* Whether the caller's events may sample the kernel: as root, with CAP_PERFMON (before Linux 5.8
   CAP_SYS_ADMIN), or if perf_event_paranoid is at most 1. */
bool perf_attr_may_see_kernel(void);

/* Makes ATTR, for a running program, start when it is enabled and not at an exec. */
void perf_attr_wait_for_enable(struct perf_event_attr *attr);

/* Fills in RET for an event that never counts and has a ring for redirected events: the daemon
   opens one per CPU on itself. */
void perf_attr_fill_anchor(struct perf_event_attr *ret);

/* Fills in RET for the event that counts all CPU time of a target's tree and reports the end of
   each task.  Open it on all CPUs (-1).  Its anchor is opened likewise: an event on the same
   program that never counts; its ring gets the records. */
void perf_attr_fill_exits(struct perf_event_attr *ret);
void perf_attr_fill_exits_anchor(struct perf_event_attr *ret);

/* Opens these two on PID, the anchor first.  The second starts at an exec, or with IS_RUNNING when
   it is enabled.  Returns 0 or -errno: without them the time of short processes is known only as a
   sum. */
int perf_attr_open_exits(pid_t pid, bool is_running, int ret_fds[2]);

/* Opens ATTR on PID (0: the caller) on CPU, close-on-exec.  If the kernel rejects our stack depth,
   its default is used.  Returns the descriptor or -errno. */
int perf_attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

#endif
