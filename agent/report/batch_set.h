/* SPDX-License-Identifier: Apache-2.0 */
/* The set of batches in a sum.  Files may be copies, and *.fp may match a batch twice. */
#ifndef REPORT_BATCH_SET_H
#define REPORT_BATCH_SET_H

#include "common/table.h"

#include <stdint.h>

struct batch_key {
  uint64_t run, seq;
};

/* All-zero is empty. */
struct batch_set {
  struct batch_key *keys;
  struct table by_key;
  uint32_t count, room;
};

/* Adds batch SEQ of RUN.  Returns 0; -EEXIST if it was in the set; or -ENOMEM. */
int batch_set_add(struct batch_set *set, uint64_t run, uint64_t seq);
void batch_set_fini(struct batch_set *set);

#endif
