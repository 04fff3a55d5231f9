/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the index of a file in memory, for callers without an index cache. */
#ifndef SYMBOL_NURSERY_INDEX_H
#define SYMBOL_NURSERY_INDEX_H

#include <stddef.h>

struct nursery;
struct worker_job;

/* Runs JOB, except for its index, in a worker of NURSERY. Returns a descriptor of the index
   (index_file_read), which the caller closes; WHY then describes missing debug information, or is
   "". On failure returns -errno. WHY has the reason if it is the file or its time; else it is
   unchanged. */
int nursery_index(struct nursery *nursery, const struct worker_job *job, char *why, size_t why_len);

#endif
