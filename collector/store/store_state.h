/* SPDX-License-Identifier: Apache-2.0 */
/* What the store's own files share. */
#ifndef STORE_STORE_STATE_H
#define STORE_STORE_STATE_H

#include "node_key.h"

struct landing;
struct settle;

struct store {
  char *dir;
  uint8_t key[NODE_KEY_BYTES];
  struct landing *landing;
  struct settle *settle;
};

#endif
