/* SPDX-License-Identifier: Apache-2.0 */
/* How far operators' uploads are. */
#ifndef NAMES_DEBUG_SENT_H
#define NAMES_DEBUG_SENT_H

#include "debug_store.h"

struct debug_sent {
  uint64_t bytes; /* 0: none */
  bool is_whole;
  enum debug_quality quality; /* of what is whole; DEBUG_NONE until it is read */
};

/* Finds what operators have sent of the file SHA256 (empty: of one whose hash they do not tell,
   under way) for module ID.  Any thread. */
void debug_sent_find(struct debug_store *store, struct span id, struct span sha256,
                     struct debug_sent *ret);

#endif
