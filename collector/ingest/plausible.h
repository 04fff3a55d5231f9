/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a batch can be from one machine. Pure. */
#ifndef INGEST_PLAUSIBLE_H
#define INGEST_PLAUSIBLE_H

#include "proto/batch.h"

#include "common/clock.h"

#include <stddef.h>

enum {
  PLAUSIBLE_FACTOR = 2,             /* tolerance for clocks that disagree */
  PLAUSIBLE_RECORD_NS_MIN = 100000, /* of CPU time: samplers run at 10 kHz at most */
};

/* Added to the window: weight that a lying program can make an honest daemon add at its end. */
#define PLAUSIBLE_SLACK_NS (60 * NS_PER_SECOND)

/* No machine is up for longer. */
#define PLAUSIBLE_BOOT_NS_MAX (UINT64_C(50) * 365 * 24 * 3600 * NS_PER_SECOND)

/* Of one run, produced or lost for any one reason: a million records a second for two thousand
   years. */
#define PLAUSIBLE_RECORDS_MAX (UINT64_C(1) << 56)

struct plausible_limits {
  uint64_t boot_ns;  /* longest uptime of its boot; UINT64_MAX: unknown */
  uint32_t cpus_max; /* of a board, LIMIT_CPUS at most */
};

/* Return 0, or -ERANGE with the impossible value in WHY. Any thread. */
int plausible_batch(const struct batch *batch, const struct plausible_limits *limits, char *why,
                    size_t why_len);
int plausible_counters(const struct counters *counters, char *why, size_t why_len);

#endif
