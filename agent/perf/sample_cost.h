/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of a sample to the sampled program, on this machine, now. */
#ifndef PERF_SAMPLE_COST_H
#define PERF_SAMPLE_COST_H

#include <stdint.h>

struct sample_cost {
  uint64_t perf_ns;   /* of a sample taken by the kernel; 0: no perf events here */
  uint64_t signal_ns; /* to deliver a signal and to return from it, without the handler itself */
};

/* Measures both, in about ten milliseconds of this thread's time. Call when nothing else runs in
   the process. Accurate to about a third: the minimum of several tries excludes other load, but a
   real program's caches are colder and its stacks deeper. */
void sample_cost_measure(struct sample_cost *ret);

#endif
