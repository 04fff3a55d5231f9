/* SPDX-License-Identifier: Apache-2.0 */
/* What one sample costs the program that is sampled, measured on this machine, now. */
#ifndef PERF_SAMPLE_COST_H
#define PERF_SAMPLE_COST_H

#include <stdint.h>

struct sample_cost {
  uint64_t perf_ns;   /* of a sample that the kernel takes; 0: there are no perf events here */
  uint64_t signal_ns; /* to deliver a signal and to return from it, without the handler's own */
};

/* Measures both, in about ten milliseconds of this thread's time.  Call where nothing else runs in
   the process.  Good to about a third: the least of several tries is taken, so that a busy machine
   does not count, and a real program's caches are colder and its stacks deeper. */
void sample_cost_measure(struct sample_cost *ret);

#endif
