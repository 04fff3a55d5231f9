/* SPDX-License-Identifier: Apache-2.0 */
/* Processes jobs that end in a database, on one thread: above all batches, many in one commit. */
#ifndef INGEST_WRITER_H
#define INGEST_WRITER_H

#include "figures.h"

struct access;
struct ca;
struct debug_store;
struct job;
struct quotas;
struct store;
struct writer;

enum { WRITER_GROUP_MAX = 256 };

struct writer_parts { /* all borrowed; must outlive the writer */
  struct store *store;
  struct debug_store *debug;
  struct access *access;
  struct ca *ca;
  struct figures *figures;
  struct quotas *quotas;   /* or NULL: none */
  uint32_t board_cpus_max; /* largest plausible number of CPUs of a board; 0: LIMIT_CPUS */
};

struct writer *writer_new(const struct writer_parts *parts);
void writer_free(struct writer *writer);

/* Processes GROUP, a list of at most WRITER_GROUP_MAX jobs, and sets their outcomes. One thread at
   a time. */
void writer_run(void *writer, struct job *group);

#endif
