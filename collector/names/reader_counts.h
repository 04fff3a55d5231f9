/* SPDX-License-Identifier: Apache-2.0 */
/* How runs of the program that reads debug files have ended, since this process began. */
#ifndef NAMES_READER_COUNTS_H
#define NAMES_READER_COUNTS_H

#include "symbol/nursery.h"

struct buf;

/* A run has ended as RESULT says, or there was none for ERROR.  Any thread. */
void reader_counts_add(const struct nursery_result *result, int error);

/* Appends them to RET in Prometheus' text form.  Any thread. */
void reader_counts_print(struct buf *ret);

#endif
