/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost since the last look: of this daemon, and of samples in programs. */
#ifndef DAEMON_COST_H
#define DAEMON_COST_H

#include "perf/sample_cost.h"
#include "ring/ring_cost.h"

#include <stdbool.h>
#include <sys/types.h>

struct target;
struct targets;

struct cost_meter {
  struct sample_cost machine;
  struct ring_cost_clock clock;
  pid_t keeper;
  uint64_t daemon_ns; /* at the last look */
};

struct cost_spent {
  double daemon_ns;
  double samples_ns, bounded_ns; /* in all programs; in those that the budget limits */
  double samples, bounded;       /* their numbers */
  double stuck_ns; /* part of samples_ns that no rate can lower, in limited programs */
};

/* Measures the cost of samples here, and starts counting.  KEEPER is the supervisor's pid. */
void cost_start(struct cost_meter *meter, pid_t keeper);

/* Adds the cost since the last call to SUM.  DEBUG_NS is this process's time for debug files so
   far, which is left out. */
void cost_look(struct cost_meter *meter, const struct targets *targets, uint64_t debug_ns,
               struct cost_spent *sum);

/* The cost of TARGET's handler.  Returns false if it was not measured. */
bool cost_handler(const struct cost_meter *meter, const struct target *target,
                  struct ring_cost *ret);
/* The cost of one sample to TARGET: the handler and the signal, or the kernel's part. */
uint64_t cost_sample_ns(const struct cost_meter *meter, const struct target *target);

#endif
