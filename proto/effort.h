/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of sampling, reported by a board in Hello, Ping and batches. */
#ifndef PROTO_EFFORT_H
#define PROTO_EFFORT_H

#include "stack_end.h"

#include <stdint.h>

/* The cost of sampling and its limits. Shares are of one CPU, in millionths. */
struct effort {
  uint32_t asked_mhz, daemon_cpu_ppm, added_cpu_ppm;  /* the last one: daemon and samples */
  uint32_t budget_cpu_ppm;                            /* 0: none */
  uint64_t bytes_day, budget_bytes_day;               /* batches of 24 hours; 0: no budget */
  uint64_t handler_p50_ns, handler_p99_ns, sample_ns; /* 0: not measured */
  uint64_t stacks_ns[STACK_END_COUNT];                /* samples since the daemon began, by end */
  const char *rate_reason;                            /* asked, ctl, budget, throttled */
  const char *budget_state;                           /* NULL, "": nothing was reported */
};

#endif
