/* SPDX-License-Identifier: Apache-2.0 */
/* The modules that one session was asked for and has not finished with.  Pure. */
#ifndef INGEST_WANTED_H
#define INGEST_WANTED_H

#include "common/span.h"
#include "proto/limits.h"

/* All-zero is empty; memory is taken with the first module. */
struct wanted {
  struct wanted_row *rows;
  unsigned count;
};

void wanted_fini(struct wanted *wanted);

bool wanted_has(const struct wanted *wanted, struct span id);

/* Adds ID.  Returns 0, -EEXIST when it is there, -ENOSPC with LIMIT_DEBUG_WANTED modules,
   -EOVERFLOW for an id over LIMIT_MODULE_ID_BYTES, -ENOMEM. */
int wanted_add(struct wanted *wanted, struct span id);

/* Removes ID.  Returns whether it was there. */
bool wanted_remove(struct wanted *wanted, struct span id);

#endif
