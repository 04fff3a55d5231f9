/* SPDX-License-Identifier: Apache-2.0 */
/* Which target a record in the kernel's rings is of. */
#ifndef DRAIN_PERF_OWNER_H
#define DRAIN_PERF_OWNER_H

#include "drain.h"

struct perf_record;

/* The event is as targets_find_event says, PERF_OWNER_GONE when it is no more. */
struct perf_owner {
  struct target *target; /* NULL: nobody's */
  uint32_t event;
};

#define PERF_OWNER_GONE UINT32_MAX

/* True when the whole record BYTES is a sample; RET is then whose. */
bool perf_owner_of_sample(const struct drain *drain, struct span bytes, struct perf_owner *ret);
/* The same for a decoded record that is no sample. */
void perf_owner_of_record(const struct drain *drain, const struct perf_record *record,
                          struct perf_owner *ret);

/* What is nobody's may be of an event that died with the worker before this one. */
bool perf_owner_may_have_died(const struct drain *drain);

#endif
