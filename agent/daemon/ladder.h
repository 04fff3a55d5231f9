/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler fallback of running programs: which programs perf samples without `run`, and which
   sampler follows when one stops. */
#ifndef DAEMON_LADDER_H
#define DAEMON_LADDER_H

#include "worker.h"

/* The perf target that already samples PID, as its program or as a descendant; or NULL.  The rings
   must have been drained. */
struct target *ladder_cover(const struct worker *worker, pid_t pid);

/* Returns NULL if the program that registers with REQUEST is to be sampled by perf if possible, or
   the reason against it. */
const char *ladder_perf_obstacle(const struct worker *worker, const struct intake_request *request);

/* Opens perf events on the registering program HELD, which waits.  Returns the target, or NULL with
   the reason in HELD's why. */
struct target *ladder_begin(struct worker *worker, struct hold_target *held);

/* As ladder_begin, for a program that gets no ring because of WHY. */
struct target *ladder_begin_without_ring(struct worker *worker, struct hold_target *held,
                                         const char *why);

/* The reason why a process of another pid namespace has no timer. */
extern const char ladder_foreign_pids[];

/* Call at every tick of the loop: finds samplers that have stopped, and switches to the next
   one. */
void ladder_step(struct worker *worker);

/* ladder_adopt.c.  Opens perf events on the processes RUNNING, in place of the target HELD.  They
   count after perf_running_start.  Returns the target, or NULL with the reason in RET_FAULT. */
struct ladder_wish {
  const struct hold_target *held;
  const struct perf_running *running;
  uint64_t explained_ns; /* part of their CPU time in another account; UINT64_MAX: all so far */
  bool is_fresh;         /* the program has just begun: its system time is its own */
};
struct target *ladder_adopt(struct worker *worker, const struct ladder_wish *wish,
                            const char **ret_fault);

/* The CPU time of all of RUNNING. */
uint64_t ladder_spent_ns(const struct perf_running *running);

/* Sets RET to the known live processes of TARGET, its own first. */
void ladder_list(const struct worker *worker, const struct target *target,
                 struct perf_running *ret);

#endif
