/* SPDX-License-Identifier: Apache-2.0 */
/* When each of a board's last boots was, as far as the board ever knew: what ties batches that a
   later boot delivers to wall time. */
#ifndef UPLINK_BOOT_TIMES_H
#define UPLINK_BOOT_TIMES_H

#include "proto/limits.h"
#include "proto/payloads.h"

#include <limits.h>
#include <stdint.h>

struct boot_times {
  char path[PATH_MAX];
  struct boot_time rows[LIMIT_BOOTS + 1]; /* the oldest first, the present one last */
  uint32_t count;
  uint64_t written_ns; /* time since boot */
};

/* Reads what earlier boots left in PATH and adds this one; what does not read is left out. */
void boot_times_init(struct boot_times *times, const char *path);

/* It is WALLTIME_NS, as somebody says who knows. */
void boot_times_learn(struct boot_times *times, uint64_t walltime_ns);

/* To be called now and then: learns from a wall clock that is kept, and notes that we live. */
void boot_times_look(struct boot_times *times);

/* Notes how long this boot has lasted; to be called at the end. */
void boot_times_close(struct boot_times *times);

/* What time it is, as far as that was ever learnt in this boot; 0: it was not. */
uint64_t boot_times_now_ns(const struct boot_times *times);

/* The boots before this one. */
const struct boot_time *boot_times_earlier(const struct boot_times *times, uint32_t *ret_count);

#endif
