/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events that the daemon opens for a user other than its own. */
#ifndef TARGETS_PERF_ADMISSION_H
#define TARGETS_PERF_ADMISSION_H

#include "keeper/hold.h"
#include "perf/perf_ring.h"

#include <sys/types.h>

enum { PERF_ADMISSION_EVENTS_OF_USER = 8192 /* for all programs of a user */ };

/* NULL if user UID may inspect the program that has run as PID since START_TICKS, and perf is open
   to users; otherwise the reason. Check before and after opening events with more rights than the
   user's. */
const char *perf_admission_check(pid_t pid, uint32_t uid, uint64_t start_ticks);

/* The content of perf samples of a program of user UID: as perf_attr_content, and of the kernel the
   part that this user may see, or the daemon's own user if UID is that. */
uint32_t perf_admission_content(uint32_t uid, bool is_pair, uint32_t choice);

/* Opens the events of HELD on the CPUs of RINGS, and, if possible, the events that report exits.
   HELD's pid, uid, start, period and collect mode are set. Sets the numbers of descriptors in HELD.
   Returns NULL, or a reason: the user may not inspect the program, or the kernel refuses. RET_FDS
   then holds none. */
const char *perf_admission_open(const struct perf_rings *rings, struct hold_target *held,
                                int ret_fds[INTAKE_FDS_MAX]);

/* True if the user UID may inspect PID, as far as this can be determined. */
bool perf_admission_is_his(pid_t pid, uint32_t uid);

#endif
