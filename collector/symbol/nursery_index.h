/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a file, for who keeps none: made by a worker, in memory. */
#ifndef SYMBOL_NURSERY_INDEX_H
#define SYMBOL_NURSERY_INDEX_H

#include <stddef.h>

struct nursery;
struct worker_job;

/* Has a worker of NURSERY do JOB but for its index.  Returns a descriptor of the index
   (index_file_read), which the caller closes, with WHY saying what of the debug information is
   missing, or ""; or -errno, with WHY in words where the file or the time it takes is the reason,
   else untouched. */
int nursery_index(struct nursery *nursery, const struct worker_job *job, char *why, size_t why_len);

#endif
