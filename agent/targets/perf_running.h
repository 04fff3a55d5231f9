/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events on programs that run already: one for each thread and CPU. */
#ifndef TARGETS_PERF_RUNNING_H
#define TARGETS_PERF_RUNNING_H

#include "keeper/hold.h"
#include "perf/perf_ring.h"

#include <sys/types.h>

enum { PERF_RUNNING_PROCESSES_MAX = 32 /* of one target */ };

struct perf_running {
  unsigned count;
  struct {
    pid_t pid;
    uint64_t start_ticks;
  } processes[PERF_RUNNING_PROCESSES_MAX];
};

/* Opens the events of HELD (its uid, period and collect mode are set) on every thread of RUNNING
   and sends them into RINGS; all that they start from now on inherits them.  They do not count
   yet.  Sets the numbers of descriptors in HELD, events in the order of threads and, of each,
   CPUs.  Returns NULL, or why not; RET_FDS then holds none. */
const char *perf_running_open(const struct perf_rings *rings, const struct perf_running *running,
                              struct hold_target *held, int ret_fds[INTAKE_FDS_MAX]);

/* From here on the events FDS of HELD count. */
void perf_running_start(const struct hold_target *held, const int *fds);

#endif
