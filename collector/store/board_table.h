/* SPDX-License-Identifier: Apache-2.0 */
/* The board catalogue in the landing file: each board's last report about itself. */
#ifndef STORE_BOARD_TABLE_H
#define STORE_BOARD_TABLE_H

#include "common/buf.h"
#include "known_boards.h"
#include "store.h"

#include <sqlite3.h>

#define BOARD_TABLE_SCHEMA                                                                   \
  "CREATE TABLE board(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"                    \
  " arch TEXT NOT NULL, kernel TEXT NOT NULL, version TEXT NOT NULL, sampler TEXT NOT NULL," \
  " clock TEXT NOT NULL, achieved_mhz INTEGER NOT NULL, labels TEXT NOT NULL,"               \
  " first_seen_ms INTEGER NOT NULL, last_seen_ms INTEGER NOT NULL,"                          \
  " past BLOB NOT NULL DEFAULT x'');" /* the balance of runs that were folded away */

/* Newer than version 1 of the landing file, which it does not change: created if missing. */
#define BOARD_TABLE_EFFORT \
  "CREATE TABLE IF NOT EXISTS board_effort(board INTEGER PRIMARY KEY, text TEXT NOT NULL);"

/* Like the table above: batches and reports of a board that were refused for good. */
#define BOARD_TABLE_REFUSED                                             \
  "CREATE TABLE IF NOT EXISTS board_refused(board INTEGER PRIMARY KEY," \
  " times INTEGER NOT NULL, at_ms INTEGER NOT NULL, why TEXT NOT NULL);"

/* Like these: the number of CPUs a board reports, and the most it ever reported; changed_ms 0:
 * it never changed. */
#define BOARD_TABLE_CPUS                                             \
  "CREATE TABLE IF NOT EXISTS board_cpus(board INTEGER PRIMARY KEY," \
  " cpus INTEGER NOT NULL, most INTEGER NOT NULL, changed_ms INTEGER NOT NULL);"

struct board_table {
  sqlite3_stmt *seen, *again, *effort, *effort_of, *refused, *cpus;
  struct buf labels, row;
  struct known_boards known;
};

/* A board's row; the texts are valid until the next call on the table. */
struct board_row {
  uint64_t id;
  const char *arch, *kernel, *labels;
};

int board_table_open(sqlite3 *db, struct board_table *ret);
void board_table_close(struct board_table *table);

/* Adds or updates SEEN's board (counters belong to run_table). Returns 0 or -errno. */
int board_table_seen(struct board_table *table, const struct store_board_seen *seen,
                     struct board_row *ret);

/* Counts a refusal for good of BOARD's data at AT_MS, with reason WHY (NULL: counts nothing).
   Returns 0 or -errno. */
int board_table_refused(struct board_table *table, uint64_t board, uint64_t at_ms, const char *why);

/* Forgets cached rows: writes since the last commit are rolled back. */
void board_table_rolled_back(struct board_table *table);

#endif
