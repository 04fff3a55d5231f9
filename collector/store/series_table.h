/* SPDX-License-Identifier: Apache-2.0 */
/* The series of one day file, without duplicates. */
#ifndef STORE_SERIES_TABLE_H
#define STORE_SERIES_TABLE_H

#include "siphash.h"

#include <sqlite3.h>

#define SERIES_TABLE_SCHEMA                                                                  \
  "CREATE TABLE series(id INTEGER PRIMARY KEY, type INTEGER NOT NULL, labels TEXT NOT NULL," \
  " UNIQUE(labels, type));"

enum series_statement { SERIES_FIND, SERIES_ADD, SERIES_STATEMENTS };

struct series_cell;

struct series_table {
  sqlite3_stmt *statements[SERIES_STATEMENTS];
  sqlite3 *db;
  uint8_t keys[2][SIPHASH_KEY_BYTES];
  struct series_cell *cells;
  uint32_t sets; /* power of two */
};

int series_table_open(sqlite3 *db, const uint8_t key[SIPHASH_KEY_BYTES], struct series_table *ret);
void series_table_close(struct series_table *table);

/* Finds or adds the series of LABELS (label_text) and TYPE.  Returns 0 or -errno. */
int series_table_map(struct series_table *table, const char *labels, uint32_t type, uint64_t *ret);

#endif
