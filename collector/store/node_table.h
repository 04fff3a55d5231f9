/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of one day file, without duplicates. */
#ifndef STORE_NODE_TABLE_H
#define STORE_NODE_TABLE_H

#include "module_table.h"

#define NODE_TABLE_SCHEMA                                                                    \
  MODULE_TABLE_SCHEMA                                                                        \
  "CREATE TABLE node(n INTEGER PRIMARY KEY, hash INTEGER NOT NULL, parent INTEGER NOT NULL," \
  " module INTEGER NOT NULL, address INTEGER NOT NULL);"                                     \
  "CREATE INDEX node_by_hash ON node(hash);"

enum node_statement { NODE_FIND, NODE_ADD, NODE_STATEMENTS };

/* A node's row N in the file, and its hash, which its children's hashes include. */
struct node_ref {
  uint32_t n;
  uint64_t hash;
};

struct node_cell;

struct node_table {
  sqlite3_stmt *statements[NODE_STATEMENTS];
  sqlite3 *db;
  uint8_t key[SIPHASH_KEY_BYTES];
  uint32_t count, max; /* present number of nodes and its limit */
  struct module_table modules;
  void *room;
  struct node_cell *cells; /* in ROOM, aligned to a CPU cache line */
  uint64_t seed;           /* of places in the cache */
  uint64_t collisions, cut;
};

int node_table_open(sqlite3 *db, const uint8_t key[SIPHASH_KEY_BYTES], uint32_t max,
                    struct node_table *ret);
void node_table_close(struct node_table *table);

/* Finds or adds the nodes of BATCH. REFS has room for node_count, MODULES for module_count. Returns
   0, -ENOMEM or -errno. */
int node_table_map(struct node_table *table, const struct batch *batch, struct module_ref *modules,
                   struct node_ref *refs);

#endif
