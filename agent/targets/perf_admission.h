/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events that the daemon opens itself, for a user who is not its own. */
#ifndef TARGETS_PERF_ADMISSION_H
#define TARGETS_PERF_ADMISSION_H

#include "keeper/hold.h"
#include "perf/perf_ring.h"

#include <sys/types.h>

enum { PERF_ADMISSION_EVENTS_OF_USER = 8192 /* of all programs of one user together */ };

/* NULL when the program that runs as PID since START_TICKS is one that user UID may look into, and
   perf is open to users; or why not.  To be asked before and after events are opened with more
   rights than his. */
const char *perf_admission_check(pid_t pid, uint32_t uid, uint64_t start_ticks);

/* What perf samples of a program of user UID hold: as perf_attr_content says, and of the kernel
   what that user may see by himself, or the daemon's own user where UID is that. */
uint32_t perf_admission_content(uint32_t uid, bool is_pair, uint32_t choice);

/* Opens the events of HELD (its pid, uid, start, period and collect mode are set) on the CPUs of
   RINGS, and where they are to be had those that tell of ends; sets the numbers of descriptors in
   HELD.  Returns NULL, or why not: the program is not one that its user may look into, or the
   kernel says no.  RET_FDS then holds none. */
const char *perf_admission_open(const struct perf_rings *rings, struct hold_target *held,
                                int ret_fds[INTAKE_FDS_MAX]);

/* The user UID may look into PID, as far as can be told. */
bool perf_admission_is_his(pid_t pid, uint32_t uid);

#endif
