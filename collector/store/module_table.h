/* SPDX-License-Identifier: Apache-2.0 */
/* The modules of one day file, without duplicates. */
#ifndef STORE_MODULE_TABLE_H
#define STORE_MODULE_TABLE_H

#include "proto/batch.h"
#include "siphash.h"

#include <sqlite3.h>

#define MODULE_TABLE_SCHEMA                                                             \
  "CREATE TABLE module(m INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id BLOB NOT NULL," \
  " path TEXT NOT NULL, UNIQUE(path, id, kind));"

enum module_statement { MODULE_FIND, MODULE_ADD, MODULE_STATEMENTS };

/* A module's row M in the file, and its hash, which the hashes of its nodes include. */
struct module_ref {
  uint32_t m;
  uint64_t hash;
};

struct module_cell;

struct module_table {
  sqlite3_stmt *statements[MODULE_STATEMENTS];
  sqlite3 *db;
  uint8_t key[SIPHASH_KEY_BYTES];
  struct module_cell *cells;
};

int module_table_open(sqlite3 *db, const uint8_t key[SIPHASH_KEY_BYTES], struct module_table *ret);
void module_table_close(struct module_table *table);

/* Finds or adds MODULE.  Returns 0 or -errno. */
int module_table_map(struct module_table *table, const struct batch_module *module,
                     struct module_ref *ret);

#endif
