/* SPDX-License-Identifier: Apache-2.0 */
/* One statement adds a board or merges what it says into what is known: empty and zero fields
   leave the old value, and times only widen.  The row's id stands for the board in the other
   tables of the landing file; it never leaves that file. */
#include "board_table.h"

#include "db.h"
#include "effort_text.h"
#include "label_text.h"

#include <errno.h>

static const char seen_sql[] =
    "INSERT INTO board(name,arch,kernel,version,sampler,clock,achieved_mhz,labels,"
    " first_seen_ms,last_seen_ms)"
    " VALUES(?1,ifnull(?2,''),ifnull(?3,''),ifnull(?4,''),ifnull(?5,''),ifnull(?6,''),?7,?8,?9,?9)"
    " ON CONFLICT(name) DO UPDATE SET"
    " arch=coalesce(nullif(?2,''),arch), kernel=coalesce(nullif(?3,''),kernel),"
    " version=coalesce(nullif(?4,''),version), sampler=coalesce(nullif(?5,''),sampler),"
    " clock=coalesce(nullif(?6,''),clock), achieved_mhz=coalesce(nullif(?7,0),achieved_mhz),"
    " labels=coalesce(nullif(?8,''),labels),"
    " first_seen_ms=min(first_seen_ms,coalesce(nullif(?9,0),first_seen_ms)),"
    " last_seen_ms=max(last_seen_ms,?9) RETURNING id";

static const char effort_sql[] = "INSERT OR REPLACE INTO board_effort(board,text) VALUES(?,?)";

int board_table_open(sqlite3 *db, struct board_table *ret) {
  int error = db_exec(db, BOARD_TABLE_EFFORT);
  if (error == 0) error = db_prepare(db, seen_sql, &ret->seen);
  return error == 0 ? db_prepare(db, effort_sql, &ret->effort) : error;
}

void board_table_close(struct board_table *table) {
  sqlite3_finalize(table->seen);
  sqlite3_finalize(table->effort);
  buf_fini(&table->labels);
}

static int keep_effort(struct board_table *table, uint64_t id, const struct effort *effort) {
  buf_clear(&table->labels);
  effort_text_encode(effort, &table->labels);
  const char *text = buf_text(&table->labels);
  if (text == NULL) return -ENOMEM;
  db_bind_u64(table->effort, 1, id);
  db_bind_text(table->effort, 2, text);
  return db_run(table->effort);
}

int board_table_seen(struct board_table *table, const struct store_board_seen *seen,
                     uint64_t *ret_id) {
  const char *texts[] = {seen->board,   seen->arch,    seen->kernel,
                         seen->version, seen->sampler, seen->clock};
  buf_clear(&table->labels);
  label_text_encode(seen->labels, seen->label_count, &table->labels);
  const char *labels = buf_text(&table->labels);
  if (labels == NULL) return -ENOMEM;
  for (int i = 0; i < 6; i++) db_bind_text(table->seen, i + 1, texts[i]);
  db_bind_u64(table->seen, 7, seen->achieved_mhz);
  db_bind_text(table->seen, 8, labels);
  db_bind_u64(table->seen, 9, seen->seen_ms);
  int row = db_step(table->seen);
  if (row < 0) return row;
  if (row == 0) return -EIO;
  uint64_t id = db_u64(table->seen, 0);
  int error = db_run(table->seen); /* to its end, which is when the row is written for good */
  if (error == 0 && seen->effort != NULL) error = keep_effort(table, id, seen->effort);
  if (error == 0) *ret_id = id;
  return error;
}
