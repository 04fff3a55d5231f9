/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of translators, for /metrics. */
#ifndef TRANSLATORS_TRANSLATOR_COUNTS_H
#define TRANSLATORS_TRANSLATOR_COUNTS_H

#include <stdint.h>

struct buf;

/* All-zero is the initial state. */
struct translator_counts {
  uint64_t starts;                             /* of processes */
  uint64_t questions, addresses, named;        /* including repetitions */
  uint64_t deadlines, miscounts, exits, other; /* rejected exchanges, by reason */
  uint64_t refused;       /* answers that a module's own files contradict, counted at each use */
  uint64_t waiting, kept; /* now: addresses to be sent, answers */
};

/* Counts an exchange of ADDRESSES that returned ERROR (interview_ask). */
void translator_counts_add(struct translator_counts *counts, int error, uint32_t addresses);

/* Appends COUNTS as text for Prometheus. */
void translator_counts_print(const struct translator_counts *counts, struct buf *ret);

#endif
