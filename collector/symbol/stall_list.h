/* SPDX-License-Identifier: Apache-2.0 */
/* The latest files with stalled workers, and counts. */
#ifndef SYMBOL_STALL_LIST_H
#define SYMBOL_STALL_LIST_H

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  STALL_LIST_FILES_MAX = 64, /* the oldest is evicted */
  STALL_LIST_TRIES_MAX = 3,
  STALL_LIST_KEY_BYTES = 32,
};

/* All-zero is empty. */
struct stall_list {
  struct stalled {
    uint8_t key[STALL_LIST_KEY_BYTES];
    uint32_t count; /* 0: empty slot */
  } files[STALL_LIST_FILES_MAX];
  uint32_t next;
};

/* Counts a stall of KEY's worker. Ignored if KEY is not 32 bytes long. */
void stall_list_add(struct stall_list *list, struct span key);

/* Whether KEY has stalled STALL_LIST_TRIES_MAX times. */
bool stall_list_is_hopeless(const struct stall_list *list, struct span key);

#endif
