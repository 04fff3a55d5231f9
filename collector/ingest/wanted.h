/* SPDX-License-Identifier: Apache-2.0 */
/* The modules requested from one session and not finished. Pure. */
#ifndef INGEST_WANTED_H
#define INGEST_WANTED_H

#include "common/span.h"
#include "proto/limits.h"

/* All-zero is empty; memory is allocated with the first module. */
struct wanted {
  struct wanted_row *rows;
  unsigned count;
};

void wanted_fini(struct wanted *wanted);

bool wanted_has(const struct wanted *wanted, struct span id);

/* Adds ID. Returns 0, -EEXIST if it is present, -ENOSPC with LIMIT_DEBUG_WANTED modules, -EOVERFLOW
   for an id over LIMIT_MODULE_ID_BYTES, -ENOMEM. */
int wanted_add(struct wanted *wanted, struct span id);

/* Removes ID. Returns whether it was present. */
bool wanted_remove(struct wanted *wanted, struct span id);

#endif
