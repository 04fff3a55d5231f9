/* SPDX-License-Identifier: Apache-2.0 */
/* Ledger and books of a run are in one row, so that a batch and the record of its storage change in
   one transaction.

   Each start of a daemon makes a run. Above the limit the least recently touched run is folded: its
   balance is added to its board's `past` (its pending records are then permanently lost:
   run_ended), and its row is deleted. Only a batch that stayed in a spool while the same board
   started a daemon four thousand times could then be stored twice. */
#include "run_table.h"

#include "db.h"
#include "proto/varint.h"

#include <errno.h>

#define BOOK_COLUMNS "produced,shipped,dropped,final,stored,refused"

static const char *const run_sql[RUN_STATEMENTS] = {
    [RUN_LOAD] = "SELECT " BOOK_COLUMNS ",newest,seqs FROM run WHERE board=? AND run=?",
    [RUN_SAVE] = "INSERT OR REPLACE INTO run(board,run,newest,seqs," BOOK_COLUMNS ",touched_ms)"
                 " VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [RUN_COUNT] = "SELECT count(*) FROM run WHERE board=?",
    [RUN_OLDEST] = "SELECT " BOOK_COLUMNS ",run FROM run WHERE board=? ORDER BY touched_ms LIMIT 1",
    [RUN_DELETE] = "DELETE FROM run WHERE board=? AND run=?",
    [RUN_PAST] = "SELECT past FROM board WHERE id=?",
    [RUN_FOLD] = "UPDATE board SET past=?2 WHERE id=?1",
    [RUN_OPEN] = "SELECT run FROM run WHERE board=? AND run<>? AND touched_ms<?"
                 " AND (final=0 OR shipped>stored) LIMIT 1",
};

int run_table_open(sqlite3 *db, struct run_table *ret) {
  return db_prepare_all(db, run_sql, RUN_STATEMENTS, ret->statements);
}

void run_table_close(struct run_table *table) {
  db_finalize_all(table->statements, RUN_STATEMENTS);
  buf_fini(&table->seqs);
  buf_fini(&table->dropped);
}

/* Reads BOOK_COLUMNS, the first columns of the row. */
static int read_books(sqlite3_stmt *row, struct books *ret) {
  struct books books = {.stored = db_u64(row, 4), .refused = db_u64(row, 5)};
  books.board.produced = db_u64(row, 0);
  books.board.shipped = db_u64(row, 1);
  books.board.final = (uint32_t)db_u64(row, 3);
  if (books_loss_decode(db_span(row, 2), books.board.dropped) != 0) return -EUCLEAN;
  *ret = books;
  return 0;
}

int run_table_load(struct run_table *table, uint64_t board, uint64_t run, struct run_row *ret) {
  sqlite3_stmt *load = table->statements[RUN_LOAD];
  *ret = (struct run_row){.board = board, .run = run, .is_new = true};
  db_bind_u64(load, 1, board);
  db_bind_u64(load, 2, run);
  int row = db_step(load);
  if (row != 1) return row;
  ret->is_new = false;
  ret->newest = db_u64(load, 6);
  int error = read_books(load, &ret->books);
  if (error == 0 && ledger_decode(db_span(load, 7), &ret->ledger) != 0) error = -EUCLEAN;
  sqlite3_reset(load);
  return error;
}

/* Encodes a balance as varints: produced, stored, then the losses. */
static void past_encode(const struct books_balance *past, struct buf *ret) {
  varint_encode(ret, past->produced);
  varint_encode(ret, past->stored);
  books_loss_encode(past->dropped, ret);
}

static int past_decode(struct span bytes, struct books_balance *ret) {
  struct books_balance past = {0};
  if (bytes.len > 0) {
    if (varint_decode(&bytes, &past.produced) != 0) return -EUCLEAN;
    if (varint_decode(&bytes, &past.stored) != 0) return -EUCLEAN;
    if (books_loss_decode(bytes, past.dropped) != 0) return -EUCLEAN;
  }
  *ret = past;
  return 0;
}

static int add_to_past(struct run_table *table, uint64_t board, const struct books_balance *more) {
  sqlite3_stmt *read = table->statements[RUN_PAST], *write = table->statements[RUN_FOLD];
  struct books_balance past = {0};
  db_bind_u64(read, 1, board);
  int error = db_step(read);
  if (error == 1) error = past_decode(db_span(read, 0), &past);
  sqlite3_reset(read);
  if (error < 0) return error;
  books_add(&past, more);
  buf_clear(&table->dropped);
  past_encode(&past, &table->dropped);
  if (table->dropped.failed) return -ENOMEM;
  db_bind_u64(write, 1, board);
  db_bind_span(write, 2, buf_span(&table->dropped));
  return db_run(write);
}

static int fold_oldest(struct run_table *table, uint64_t board) {
  sqlite3_stmt *oldest = table->statements[RUN_OLDEST], *remove = table->statements[RUN_DELETE];
  struct books books = {0};
  struct books_balance balance;
  db_bind_u64(oldest, 1, board);
  int error = db_step(oldest);
  if (error != 1) return error;
  uint64_t run = db_u64(oldest, 6);
  error = read_books(oldest, &books);
  sqlite3_reset(oldest);
  if (error != 0) return error;
  books_balance(&books, &balance);
  balance.dropped[LOSS_RUN_ENDED] += balance.pending;
  balance.pending = 0;
  error = add_to_past(table, board, &balance);
  if (error != 0) return error;
  db_bind_u64(remove, 1, board);
  db_bind_u64(remove, 2, run);
  return db_run(remove);
}

static int make_room(struct run_table *table, uint64_t board) {
  sqlite3_stmt *count = table->statements[RUN_COUNT];
  db_bind_u64(count, 1, board);
  int row = db_step(count);
  if (row != 1) return row;
  uint64_t runs = db_u64(count, 0);
  sqlite3_reset(count);
  return runs < RUNS_PER_BOARD_MAX ? 0 : fold_oldest(table, board);
}

int run_table_save(struct run_table *table, const struct run_row *row) {
  sqlite3_stmt *save = table->statements[RUN_SAVE];
  int error = row->is_new ? make_room(table, row->board) : 0;
  if (error != 0) return error;
  buf_clear(&table->seqs);
  buf_clear(&table->dropped);
  ledger_encode(&row->ledger, &table->seqs);
  books_loss_encode(row->books.board.dropped, &table->dropped);
  if (table->seqs.failed || table->dropped.failed) return -ENOMEM;
  const uint64_t before[] = {row->board, row->run, row->newest};
  const uint64_t after[] = {row->books.board.final, row->books.stored, row->books.refused,
                            row->touched_ms};
  for (int i = 0; i < 3; i++) db_bind_u64(save, i + 1, before[i]);
  db_bind_span(save, 4, buf_span(&table->seqs));
  db_bind_u64(save, 5, row->books.board.produced);
  db_bind_u64(save, 6, row->books.board.shipped);
  db_bind_span(save, 7, buf_span(&table->dropped));
  for (int i = 0; i < 4; i++) db_bind_u64(save, i + 8, after[i]);
  return db_run(save);
}

int run_table_open_other(struct run_table *table, uint64_t board, uint64_t run, uint64_t before_ms,
                         uint64_t *ret) {
  sqlite3_stmt *open = table->statements[RUN_OPEN];
  db_bind_u64(open, 1, board);
  db_bind_u64(open, 2, run);
  db_bind_u64(open, 3, before_ms);
  int row = db_step(open);
  if (row == 1) *ret = db_u64(open, 0);
  sqlite3_reset(open);
  return row;
}

int run_table_balance(sqlite3 *db, uint64_t board, struct span past, struct books_balance *ret) {
  sqlite3_stmt *runs = NULL;
  struct books_balance sum = {0}, balance;
  struct books books;
  int error = past_decode(past, &sum);
  if (error == 0) error = db_prepare(db, "SELECT " BOOK_COLUMNS " FROM run WHERE board=?", &runs);
  if (error != 0) return error;
  db_bind_u64(runs, 1, board);
  while ((error = db_step(runs)) == 1 && (error = read_books(runs, &books)) == 0) {
    books_balance(&books, &balance);
    books_add(&sum, &balance);
  }
  sqlite3_finalize(runs);
  if (error == 0) *ret = sum;
  return error;
}
