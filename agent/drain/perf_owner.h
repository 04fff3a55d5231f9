/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the target of a record in the kernel's rings. */
#ifndef DRAIN_PERF_OWNER_H
#define DRAIN_PERF_OWNER_H

#include "drain.h"

struct perf_record;

/* The event is as in targets_find_event, or PERF_OWNER_GONE if it is closed. */
struct perf_owner {
  struct target *target; /* NULL: none */
  uint32_t event;
};

#define PERF_OWNER_GONE UINT32_MAX

/* True if the whole record BYTES is a sample; RET is then its owner. */
bool perf_owner_of_sample(const struct drain *drain, struct span bytes, struct perf_owner *ret);
/* The same for a decoded record that is no sample. */
void perf_owner_of_record(const struct drain *drain, const struct perf_record *record,
                          struct perf_owner *ret);

/* True if a record without owner may be of an event that died with the previous worker. */
bool perf_owner_may_have_died(const struct drain *drain);

#endif
