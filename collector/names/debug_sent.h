/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of operators' uploads. */
#ifndef NAMES_DEBUG_SENT_H
#define NAMES_DEBUG_SENT_H

#include "debug_store.h"

struct debug_sent {
  uint64_t bytes; /* 0: none */
  bool is_whole;
  enum debug_quality quality; /* of a whole file; DEBUG_NONE until it is read */
};

/* Finds the bytes that operators have sent of the file SHA256 for module ID. SHA256 empty: an
 * upload without an announced hash. Any thread. */
void debug_sent_find(struct debug_store *store, struct span id, struct span sha256,
                     struct debug_sent *ret);

#endif
