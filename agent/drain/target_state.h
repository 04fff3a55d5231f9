/* SPDX-License-Identifier: Apache-2.0 */
/* How well a target is sampled, in words. */
#ifndef DRAIN_TARGET_STATE_H
#define DRAIN_TARGET_STATE_H

#include "census/census.h"

#include <stddef.h>
#include <stdint.h>

struct target;

/* "perf", "timer" (or what else ring_clock.h names), of the whole board "system"; "none" when it
   has stopped working while the program runs on. */
const char *target_sampler(const struct target *target);
/* Since when it is "none" (CLOCK_MONOTONIC), or 0. */
uint64_t target_none_since_ns(const struct target *target);
/* What of its threads is not sampled and why; empty when nothing is known. */
void target_explain_unsampled(const struct target *target, char why[CENSUS_WHY_BYTES]);
/* The same as bits of enum batch_mark; 0 once another sampler has taken over. */
uint32_t target_unsampled_marks(const struct target *target);
/* The part of its CPU time that was reported as [unsampled] so far. */
double target_unsampled_share(const struct target *target);
/* Why no better sampler was taken, and what is not sampled and why; cut to LEN bytes. */
void target_explain(const struct target *target, char *why, size_t len);

#endif
