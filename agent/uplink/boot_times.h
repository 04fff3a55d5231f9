/* SPDX-License-Identifier: Apache-2.0 */
/* The wall-clock times of a board's last boots, as far as they became known.  With them, batches of
   an earlier boot get wall-clock times. */
#ifndef UPLINK_BOOT_TIMES_H
#define UPLINK_BOOT_TIMES_H

#include "proto/limits.h"
#include "proto/payloads.h"

#include <limits.h>
#include <stdint.h>

struct boot_times {
  char path[PATH_MAX];
  struct boot_time rows[LIMIT_BOOTS + 1]; /* the oldest first, the current boot last */
  uint32_t count;
  uint64_t written_ns; /* time since boot */
};

/* Reads the boots in PATH and adds the current one; malformed lines are ignored. */
void boot_times_init(struct boot_times *times, const char *path);

/* Sets the current time to WALLTIME_NS, from a trusted source. */
void boot_times_learn(struct boot_times *times, uint64_t walltime_ns);

/* Call periodically: learns from a synchronized wall clock, and records that this boot lasts. */
void boot_times_look(struct boot_times *times);

/* Records how long this boot has lasted; call at the end. */
void boot_times_close(struct boot_times *times);

/* The current time, if it was learnt in this boot; else 0. */
uint64_t boot_times_now_ns(const struct boot_times *times);

/* The boots before this one. */
const struct boot_time *boot_times_earlier(const struct boot_times *times, uint32_t *ret_count);

#endif
