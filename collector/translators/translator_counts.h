/* SPDX-License-Identifier: Apache-2.0 */
/* What translators have done, for /metrics. */
#ifndef TRANSLATORS_TRANSLATOR_COUNTS_H
#define TRANSLATORS_TRANSLATOR_COUNTS_H

#include <stdint.h>

struct buf;

/* All-zero is the beginning. */
struct translator_counts {
  uint64_t starts;                             /* of processes */
  uint64_t questions, addresses, named;        /* repetitions counted again */
  uint64_t deadlines, miscounts, exits, other; /* questions of which nothing was believed, by why */
  uint64_t refused;       /* answers that a module's own files contradict, each time one is met */
  uint64_t waiting, kept; /* at the moment: addresses to be asked, answers */
};

/* Adds a question of ADDRESSES that ended as interview_ask says by ERROR. */
void translator_counts_add(struct translator_counts *counts, int error, uint32_t addresses);

/* Appends COUNTS as text for Prometheus. */
void translator_counts_print(const struct translator_counts *counts, struct buf *ret);

#endif
