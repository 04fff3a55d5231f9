/* SPDX-License-Identifier: Apache-2.0 */
/* Handles pieces of debug files on one thread: inflates and writes them, and has a complete file
   read. */
#ifndef INGEST_DEBUG_INTAKE_H
#define INGEST_DEBUG_INTAKE_H

#include "figures.h"

struct debug_store;
struct job;
struct symbolizer;

struct debug_intake { /* borrowed parts; the caller provides the storage */
  struct debug_store *store;
  struct symbolizer *symbolizer;
  struct figures *figures;
};

/* Processes GROUP, a list of JOB_DEBUG_* jobs, and sets their outcomes. One thread at a time. */
void debug_intake_run(void *debug_intake, struct job *group);

#endif
