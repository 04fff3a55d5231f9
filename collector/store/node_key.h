/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's secret that node ids are made with: DIR/node.key, 32 random bytes, mode 0600. */
#ifndef STORE_NODE_KEY_H
#define STORE_NODE_KEY_H

#include <stdint.h>

enum { NODE_KEY_BYTES = 32 };

/* Reads DIR/node.key, making it when absent.  Returns 0; -EBADMSG when it has another length; or
   -errno. */
int node_key_open(const char *dir, uint8_t key[NODE_KEY_BYTES]);

#endif
