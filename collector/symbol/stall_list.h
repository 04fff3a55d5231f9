/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose workers got nowhere, and how often: the latest few. */
#ifndef SYMBOL_STALL_LIST_H
#define SYMBOL_STALL_LIST_H

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  STALL_LIST_FILES_MAX = 64, /* the one that came first makes room */
  STALL_LIST_TRIES_MAX = 3,
  STALL_LIST_KEY_BYTES = 32,
};

/* All-zero is empty. */
struct stall_list {
  struct stalled {
    uint8_t key[STALL_LIST_KEY_BYTES];
    uint32_t count; /* 0: no such file */
  } files[STALL_LIST_FILES_MAX];
  uint32_t next;
};

/* Remembers that KEY's worker got nowhere; a KEY of another length than 32 is not remembered. */
void stall_list_add(struct stall_list *list, struct span key);

/* Whether that happened STALL_LIST_TRIES_MAX times. */
bool stall_list_is_hopeless(const struct stall_list *list, struct span key);

#endif
