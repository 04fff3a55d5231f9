/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread does with pieces of debug files: inflate, write, and when whole have the file
   read. */
#ifndef INGEST_DEBUG_INTAKE_H
#define INGEST_DEBUG_INTAKE_H

#include "figures.h"

struct debug_store;
struct job;
struct symbolizer;

struct debug_intake { /* borrowed parts, the caller's storage */
  struct debug_store *store;
  struct symbolizer *symbolizer;
  struct figures *figures;
};

/* Works on GROUP, a list of JOB_DEBUG_* jobs: sets each one's outcome.  One thread at a time. */
void debug_intake_run(void *debug_intake, struct job *group);

#endif
