/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the program that reads debug files, since this process started. */
#ifndef NAMES_READER_COUNTS_H
#define NAMES_READER_COUNTS_H

#include "symbol/nursery.h"

struct buf;

/* Counts a run with RESULT, or a failure to run it with ERROR. Any thread. */
void reader_counts_add(const struct nursery_result *result, int error);

/* Appends the counters to RET in Prometheus' text form. Any thread. */
void reader_counts_print(struct buf *ret);

#endif
