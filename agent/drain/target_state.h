/* SPDX-License-Identifier: Apache-2.0 */
/* Describes in words how well a target is sampled. */
#ifndef DRAIN_TARGET_STATE_H
#define DRAIN_TARGET_STATE_H

#include "census/census.h"

#include <stddef.h>
#include <stdint.h>

struct target;

/* "perf", "timer" (or another name of ring_clock.h), "system" for the whole board; "none" if it has
   stopped working while the program continues. */
const char *target_sampler(const struct target *target);
/* Since when it is "none" (CLOCK_MONOTONIC), or 0. */
uint64_t target_none_since_ns(const struct target *target);
/* Which of its threads are not sampled and why; empty if unknown. */
void target_explain_unsampled(const struct target *target, char why[CENSUS_WHY_BYTES]);
/* The same as bits of enum batch_mark; 0 once another sampler has taken over. */
uint32_t target_unsampled_marks(const struct target *target);
/* The share of its CPU time reported as [unsampled] so far. */
double target_unsampled_share(const struct target *target);
/* Why no better sampler was chosen, and what is not sampled and why; truncated to LEN bytes. */
void target_explain(const struct target *target, char *why, size_t len);

#endif
