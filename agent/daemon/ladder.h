/* SPDX-License-Identifier: Apache-2.0 */
/* The sampling ladder of programs that run: who is sampled by perf without `run`, and what becomes
   of a program whose sampler stops. */
#ifndef DAEMON_LADDER_H
#define DAEMON_LADDER_H

#include "worker.h"

/* The perf target that samples PID already, as the program it was opened on or as what that has
   started; or NULL.  What waits in the rings must have been drained. */
struct target *ladder_cover(const struct worker *worker, pid_t pid);

/* NULL when the program that registers with REQUEST is to be sampled by perf if that can be, or why
   not. */
const char *ladder_perf_obstacle(const struct worker *worker, const struct intake_request *request);

/* Opens perf events on the program that registers as HELD and waits.  Returns the target, or NULL
   with the reason in HELD's why. */
struct target *ladder_begin(struct worker *worker, struct hold_target *held);

/* The same for a program whose agent gets no ring because of WHY. */
struct target *ladder_begin_without_ring(struct worker *worker, struct hold_target *held,
                                         const char *why);

/* Why a process of another pid namespace has no timer. */
extern const char ladder_foreign_pids[];

/* With every tick of the loop: looks who has stopped, and takes the next rung. */
void ladder_step(struct worker *worker);

/* ladder_adopt.c.  Opens perf events on the processes RUNNING, in the place of what HELD
   describes.  They count when perf_running_start is called.  Returns the target, or NULL with the
   reason in RET_FAULT. */
struct ladder_wish {
  const struct hold_target *held;
  const struct perf_running *running;
  uint64_t explained_ns; /* of their CPU time: somebody else's account; UINT64_MAX: all so far */
  bool is_fresh;         /* it has just begun: its system time is its own */
};
struct target *ladder_adopt(struct worker *worker, const struct ladder_wish *wish,
                            const char **ret_fault);

/* The CPU time of all of RUNNING. */
uint64_t ladder_spent_ns(const struct perf_running *running);

/* Sets RET to the living processes of TARGET that are known, its own first. */
void ladder_list(const struct worker *worker, const struct target *target,
                 struct perf_running *ret);

#endif
