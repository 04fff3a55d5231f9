/* SPDX-License-Identifier: Apache-2.0 */
/* Which batches a sum has already: files are copied, and *.fp names one twice. */
#ifndef REPORT_BATCH_SET_H
#define REPORT_BATCH_SET_H

#include "common/table.h"

#include <stdint.h>

struct batch_key {
  uint64_t run, seq;
};

/* All zero: empty. */
struct batch_set {
  struct batch_key *keys;
  struct table by_key;
  uint32_t count, room;
};

/* Returns 0 when batch SEQ of RUN was not there and is now, -EEXIST when it was, or -ENOMEM. */
int batch_set_add(struct batch_set *set, uint64_t run, uint64_t seq);
void batch_set_fini(struct batch_set *set);

#endif
