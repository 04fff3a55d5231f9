/* SPDX-License-Identifier: Apache-2.0 */
/* The board catalogue with each board's books, read on a connection of its own: a long answer does
   not hold up appends, and one transaction makes all of it one moment. */
#include "store_state.h"

#include "db.h"
#include "effort_text.h"
#include "label_text.h"
#include "landing.h"
#include "run_table.h"
#include "store_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES = 4096 };

static const char list_sql[] = "SELECT id,name,arch,kernel,version,sampler,clock,achieved_mhz,"
                               "labels,first_seen_ms,last_seen_ms,past,ifnull(text,''),"
                               "ifnull(times,0),ifnull(at_ms,0),ifnull(why,''),"
                               "ifnull(cpus,0),ifnull(most,0),ifnull(changed_ms,0) FROM board"
                               " LEFT JOIN board_cpus ON board_cpus.board=id"
                               " LEFT JOIN board_effort ON board_effort.board=id"
                               " LEFT JOIN board_refused ON board_refused.board=id ORDER BY name";

static void read_board(sqlite3_stmt *row, const struct books_balance *balance,
                       struct store_board *ret) {
  *ret = (struct store_board){
      .name = db_text(row, 1),
      .arch = db_text(row, 2),
      .kernel = db_text(row, 3),
      .version = db_text(row, 4),
      .sampler = db_text(row, 5),
      .clock = db_text(row, 6),
      .achieved_mhz = (uint32_t)db_u64(row, 7),
      .first_seen_ms = db_u64(row, 9),
      .last_seen_ms = db_u64(row, 10),
      .produced = balance->produced,
      .stored = balance->stored,
      .pending = balance->pending,
      .refused = db_u64(row, 13),
      .refused_ms = db_u64(row, 14),
      .refused_why = db_text(row, 15),
      .cpus = (uint32_t)db_u64(row, 16),
      .cpus_most = (uint32_t)db_u64(row, 17),
      .cpus_changed_ms = db_u64(row, 18),
  };
  memcpy(ret->dropped, balance->dropped, sizeof ret->dropped);
}

static int show_board(sqlite3 *db, sqlite3_stmt *row,
                      int (*on_board)(void *context, const struct store_board *board),
                      void *context) {
  struct books_balance balance;
  struct store_board board;
  int error = run_table_balance(db, db_u64(row, 0), db_span(row, 11), &balance);
  if (error != 0) return error;
  read_board(row, &balance, &board);
  char *labels = strdup(db_text(row, 8)), *effort = strdup(db_text(row, 12));
  if (labels == NULL || effort == NULL) {
    free(labels);
    free(effort);
    return -ENOMEM;
  }
  effort_text_decode(effort, &board.effort);
  if (label_text_decode(labels, board.labels, LIMIT_LABELS, &board.label_count) != 0)
    board.label_count = 0;
  error = on_board(context, &board);
  free(labels);
  free(effort);
  return error;
}

int store_boards(struct store *store,
                 int (*on_board)(void *context, const struct store_board *board), void *context) {
  char path[PATH_BYTES];
  sqlite3 *db = NULL;
  sqlite3_stmt *list = NULL;
  snprintf(path, sizeof path, "%s/landing.db", store->dir);
  int error = landing_is_in_place(store->landing) ? db_open(path, false, &db) : -ESTALE;
  if (error == 0) error = db_exec(db, "BEGIN");
  if (error == 0) error = db_prepare(db, list_sql, &list);
  while (error == 0 && (error = db_step(list)) == 1)
    error = show_board(db, list, on_board, context);
  sqlite3_finalize(list);
  db_close(db);
  return error;
}
