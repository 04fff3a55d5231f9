/* SPDX-License-Identifier: Apache-2.0 */
/* What was spent since the last look: by this daemon, and in the sampled programs. */
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
  double samples_ns, bounded_ns; /* in all programs; in those that the budget holds */
  double samples, bounded;       /* that is how many */
  double stuck_ns;               /* of samples_ns: what no rate can lower, in those that are held */
};

/* Measures what samples cost here; starts to count.  KEEPER is the pid of the other process. */
void cost_start(struct cost_meter *meter, pid_t keeper);

/* Adds to SUM what was spent since the last call.  DEBUG_NS is what debug files have taken of this
   process so far: it is left out. */
void cost_look(struct cost_meter *meter, const struct targets *targets, uint64_t debug_ns,
               struct cost_spent *sum);

/* What the handler of TARGET takes.  Returns false when that was not measured. */
bool cost_handler(const struct cost_meter *meter, const struct target *target,
                  struct ring_cost *ret);
/* What one sample costs TARGET: the handler and the signal, or the kernel's part. */
uint64_t cost_sample_ns(const struct cost_meter *meter, const struct target *target);

#endif
