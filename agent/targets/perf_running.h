/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events on running programs: one for each thread and CPU. */
#ifndef TARGETS_PERF_RUNNING_H
#define TARGETS_PERF_RUNNING_H

#include "keeper/hold.h"
#include "perf/perf_ring.h"

#include <sys/types.h>

enum { PERF_RUNNING_PROCESSES_MAX = 32 /* for a target */ };

struct perf_running {
  unsigned count;
  struct {
    pid_t pid;
    uint64_t start_ticks;
  } processes[PERF_RUNNING_PROCESSES_MAX];
};

/* Opens the events of HELD (its uid, period and collect mode are set) on every thread of RUNNING,
   with output to RINGS; later children inherit them. They do not count yet. Sets the numbers of
   descriptors in HELD, events sorted by thread, then CPU. Returns NULL, or a reason; RET_FDS then
   holds none. */
const char *perf_running_open(const struct perf_rings *rings, const struct perf_running *running,
                              struct hold_target *held, int ret_fds[INTAKE_FDS_MAX]);

/* Starts the events FDS of HELD. */
void perf_running_start(const struct hold_target *held, const int *fds);

#endif
