/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's secret key for node ids: DIR/node.key, 32 random bytes, mode 0600. */
#ifndef STORE_NODE_KEY_H
#define STORE_NODE_KEY_H

#include <stdint.h>

enum { NODE_KEY_BYTES = 32 };

/* Reads DIR/node.key, creating it if absent. Returns 0; -EBADMSG if it has another length; or
   -errno. */
int node_key_open(const char *dir, uint8_t key[NODE_KEY_BYTES]);

/* Reads the key. Returns 0; -ENOENT if there is none; -EBADMSG; or -errno. */
int node_key_read(const char *dir, uint8_t key[NODE_KEY_BYTES]);

/* The mark by which landing.db identifies KEY, and the message about a different key. */
#define NODE_KEY_NAME "node.key"
#define NODE_KEY_IS_ANOTHER                                                                      \
  "is not the one that was here: answers stay right, and stacks that days have take their room " \
  "twice"
uint64_t node_key_mark(const uint8_t key[NODE_KEY_BYTES]);

#endif
