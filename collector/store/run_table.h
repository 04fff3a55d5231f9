/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of each board in the landing file: ledger and books of each daemon start. */
#ifndef STORE_RUN_TABLE_H
#define STORE_RUN_TABLE_H

#include "books.h"
#include "common/buf.h"
#include "ledger.h"

#include <sqlite3.h>

#define RUN_TABLE_SCHEMA                                                                    \
  "CREATE TABLE run(board INTEGER NOT NULL, run INTEGER NOT NULL, newest INTEGER NOT NULL," \
  " seqs BLOB NOT NULL, produced INTEGER NOT NULL, shipped INTEGER NOT NULL,"               \
  " dropped BLOB NOT NULL, final INTEGER NOT NULL, stored INTEGER NOT NULL,"                \
  " refused INTEGER NOT NULL, touched_ms INTEGER NOT NULL,"                                 \
  " PRIMARY KEY(board, run)) WITHOUT ROWID;"

enum {
  RUNS_PER_BOARD_MAX = 4096, /* a daemon started every two hours for a year */
};

struct run_row {
  uint64_t board, run;
  bool is_new;
  uint64_t newest; /* newest seq stored; 0: none */
  uint64_t touched_ms;
  struct ledger ledger;
  struct books books;
};

enum run_statement {
  RUN_LOAD,
  RUN_SAVE,
  RUN_COUNT,
  RUN_OLDEST,
  RUN_DELETE,
  RUN_PAST,
  RUN_FOLD,
  RUN_OPEN,
  RUN_STATEMENTS
};

struct run_table {
  sqlite3_stmt *statements[RUN_STATEMENTS];
  struct buf seqs, dropped;
};

int run_table_open(sqlite3 *db, struct run_table *ret);
void run_table_close(struct run_table *table);

/* Reads the row of RUN of BOARD, or returns an empty row with is_new. Returns 0 or -errno. */
int run_table_load(struct run_table *table, uint64_t board, uint64_t run, struct run_row *ret);

/* Writes ROW. A new row above RUNS_PER_BOARD_MAX folds the board's least recently touched run: its
   balance is kept, its ledger is deleted. Returns 0 or -errno. */
int run_table_save(struct run_table *table, const struct run_row *row);

/* Finds a run of BOARD other than RUN, not touched since BEFORE_MS, with open books. Returns 1 with
   it in RET, 0 if there is none, or -errno. */
int run_table_open_other(struct run_table *table, uint64_t board, uint64_t run, uint64_t before_ms,
                         uint64_t *ret);

/* Adds up the balances of BOARD's runs, including folded runs (PAST). DB may be any connection.
   Returns 0 or -errno. */
int run_table_balance(sqlite3 *db, uint64_t board, struct span past, struct books_balance *ret);

#endif
