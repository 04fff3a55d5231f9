/* SPDX-License-Identifier: Apache-2.0 */
/* One statement adds a board or merges its report into its row: empty and zero fields leave the
   old value, and times only widen. The row's id stands for the board in the other tables of the
   landing file; it never leaves that file. A row whose last_seen is far ahead of a plausible report
   was written by a wrong clock: the report replaces it.

   Nearly all batches only change two numbers of the row, the time and the rate. Then the board
   is not looked up (known_boards.c). */
#include "board_table.h"

#include "common/clock.h"
#include "db.h"
#include "effort_text.h"
#include "label_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    " last_seen_ms=iif(?9>=?10 AND last_seen_ms>?9+?11,?9,max(last_seen_ms,?9))"
    " RETURNING id,last_seen_ms,achieved_mhz,name,arch,kernel,labels,sampler,clock";

enum { ROW_TEXTS_FROM = 3, CPUS_PAUSE_MS = 60000 };

static const char again_sql[] = "UPDATE board SET last_seen_ms=?2, achieved_mhz=?3 WHERE id=?1";

static const char effort_sql[] = "INSERT OR REPLACE INTO board_effort(board,text) VALUES(?,?)";

static const char effort_of_sql[] = "SELECT text FROM board_effort WHERE board=?";

static const char refused_sql[] =
    "INSERT INTO board_refused(board,times,at_ms,why) VALUES(?1,1,?2,?3)"
    " ON CONFLICT DO UPDATE SET times=times+1,at_ms=?2,why=?3";

static const char cpus_sql[] =
    "INSERT INTO board_cpus(board,cpus,most,changed_ms) VALUES(?1,?2,?2,0)"
    " ON CONFLICT DO UPDATE SET most=max(most,?2),cpus=?2,changed_ms=?3 WHERE cpus<>?2";

int board_table_open(sqlite3 *db, struct board_table *ret) {
  int error = db_exec(db, BOARD_TABLE_EFFORT BOARD_TABLE_REFUSED BOARD_TABLE_CPUS);
  if (error == 0) error = db_prepare(db, seen_sql, &ret->seen);
  if (error == 0) error = db_prepare(db, again_sql, &ret->again);
  if (error == 0) error = db_prepare(db, effort_sql, &ret->effort);
  if (error == 0) error = db_prepare(db, refused_sql, &ret->refused);
  if (error == 0) error = db_prepare(db, cpus_sql, &ret->cpus);
  return error == 0 ? db_prepare(db, effort_of_sql, &ret->effort_of) : error;
}

void board_table_close(struct board_table *table) {
  sqlite3_finalize(table->seen);
  sqlite3_finalize(table->again);
  sqlite3_finalize(table->effort);
  sqlite3_finalize(table->effort_of);
  sqlite3_finalize(table->refused);
  sqlite3_finalize(table->cpus);
  buf_fini(&table->labels);
  buf_fini(&table->row);
  known_boards_fini(&table->known);
}

int board_table_refused(struct board_table *table, uint64_t board, uint64_t at_ms,
                        const char *why) {
  if (why == NULL) return 0;
  db_bind_u64(table->refused, 1, board);
  db_bind_u64(table->refused, 2, at_ms);
  db_bind_text(table->refused, 3, why);
  return db_run(table->refused);
}

void board_table_rolled_back(struct board_table *table) {
  known_boards_forget(&table->known);
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

/* Reads board ID's effort. Its strings are in RET_TEXT, which the caller frees; empty if none is
   stored. */
static int read_effort(struct board_table *table, uint64_t id, struct effort *ret,
                       char **ret_text) {
  db_bind_u64(table->effort_of, 1, id);
  int row = db_step(table->effort_of);
  *ret_text = strdup(row == 1 ? db_text(table->effort_of, 0) : "");
  int error = row == 1 ? db_run(table->effort_of) : row;
  if (*ret_text == NULL) error = -ENOMEM;
  if (error == 0) effort_text_decode(*ret_text, ret);
  return error;
}

/* Stores the requested rate of the busiest target, which each batch has. The rest of the effort
   is stored only when it changes. */
static int keep_asked(struct board_table *table, uint64_t id, uint32_t asked_mhz) {
  struct effort effort;
  char *text;
  int error = read_effort(table, id, &effort, &text);
  if (error == 0 && effort.asked_mhz != asked_mhz) {
    effort.asked_mhz = asked_mhz;
    error = keep_effort(table, id, &effort);
  }
  free(text);
  return error;
}

/* RET_ASKED: the requested rate stored then, or KNOWN_ASKED_NOT. */
static int keep_cost(struct board_table *table, uint64_t id, const struct store_board_seen *seen,
                     uint32_t *ret_asked) {
  *ret_asked = seen->asked_mhz != 0 ? seen->asked_mhz : KNOWN_ASKED_NOT;
  if (seen->effort == NULL) return seen->asked_mhz ? keep_asked(table, id, seen->asked_mhz) : 0;
  struct effort effort = *seen->effort;
  if (seen->asked_mhz != 0) effort.asked_mhz = seen->asked_mhz;
  return keep_effort(table, id, &effort);
}

/* Writes a new maximum at once, which happens LIMIT_CPUS times at most; other changes once in
   CPUS_PAUSE_MS, and if the clock was set back. KNOWN becomes what is written. */
static int keep_cpus(struct board_table *table, uint64_t id, const struct store_board_seen *seen,
                     struct known_cpus *known) {
  if (seen->cpus == 0 || seen->cpus == known->last) return 0;
  bool is_most = seen->cpus > known->most;
  if (!is_most && seen->seen_ms - known->changed_ms < CPUS_PAUSE_MS) return 0;
  known->last = seen->cpus;
  if (is_most) known->most = seen->cpus;
  if (!is_most) known->changed_ms = seen->seen_ms;
  db_bind_u64(table->cpus, 1, id);
  db_bind_u64(table->cpus, 2, seen->cpus);
  db_bind_u64(table->cpus, 3, seen->seen_ms);
  return db_run(table->cpus);
}

/* Copies the row that SEEN returned, which is invalid after the statement ends. */
static int keep_row(struct board_table *table, struct known_board *ret) {
  size_t starts[KNOWN_BOARD_TEXTS];
  buf_clear(&table->row);
  for (int i = 0; i < KNOWN_BOARD_TEXTS; i++) {
    const char *text = db_text(table->seen, ROW_TEXTS_FROM + i);
    starts[i] = table->row.len;
    buf_append(&table->row, text, strlen(text) + 1);
  }
  if (table->row.failed) return -ENOMEM;
  *ret = (struct known_board){.id = db_u64(table->seen, 0),
                              .last_seen_ms = db_u64(table->seen, 1),
                              .achieved_mhz = (uint32_t)db_u64(table->seen, 2)};
  for (int i = 0; i < KNOWN_BOARD_TEXTS; i++)
    ret->texts[i] = (const char *)table->row.data + starts[i];
  return 0;
}

static int merge(struct board_table *table, const struct store_board_seen *seen,
                 const struct known_cpus *cpus, struct known_board *ret) {
  const char *texts[] = {seen->board,   seen->arch,    seen->kernel,
                         seen->version, seen->sampler, seen->clock};
  struct known_board row;
  buf_clear(&table->labels);
  label_text_encode(seen->labels, seen->label_count, &table->labels);
  const char *labels = buf_text(&table->labels);
  if (labels == NULL) return -ENOMEM;
  for (int i = 0; i < 6; i++) db_bind_text(table->seen, i + 1, texts[i]);
  db_bind_u64(table->seen, 7, seen->achieved_mhz);
  db_bind_text(table->seen, 8, labels);
  db_bind_u64(table->seen, 9, seen->seen_ms);
  db_bind_u64(table->seen, 10, CLOCK_PLAUSIBLE_NS / NS_PER_MS);
  db_bind_u64(table->seen, 11, CLOCK_APART_NS / NS_PER_MS);
  int found = db_step(table->seen);
  if (found < 0) return found;
  int error = found == 1 ? keep_row(table, &row) : -EIO;
  int ended = db_run(table->seen); /* to its end, because only that writes the row */
  if (error == 0) error = ended;
  if (error == 0) error = keep_cost(table, row.id, seen, &row.asked_mhz);
  row.cpus = *cpus;
  if (error == 0) error = keep_cpus(table, row.id, seen, &row.cpus);
  if (error != 0) return error;
  known_boards_keep(&table->known, &row);
  *ret = row;
  return 0;
}

static bool is_news(const char *said, const char *known) {
  return said != NULL && said[0] != 0 && strcmp(said, known) != 0;
}

/* Whether SEEN has nothing new of BOARD but its time and rate. */
static bool is_known(const struct known_board *board, const struct store_board_seen *seen) {
  if (board == NULL || seen->version != NULL || seen->label_count > 0 || seen->effort != NULL ||
      seen->seen_ms < board->last_seen_ms)
    return false;
  return !is_news(seen->arch, board->texts[KNOWN_ARCH]) &&
         !is_news(seen->kernel, board->texts[KNOWN_KERNEL]) &&
         !is_news(seen->sampler, board->texts[KNOWN_SAMPLER]) &&
         !is_news(seen->clock, board->texts[KNOWN_CLOCK]);
}

static int see_again(struct board_table *table, struct known_board *board,
                     const struct store_board_seen *seen) {
  uint32_t achieved_mhz = seen->achieved_mhz != 0 ? seen->achieved_mhz : board->achieved_mhz;
  int error = 0;
  if (seen->asked_mhz != 0 && seen->asked_mhz != board->asked_mhz)
    error = keep_asked(table, board->id, board->asked_mhz = seen->asked_mhz);
  if (error == 0) error = keep_cpus(table, board->id, seen, &board->cpus);
  if (seen->seen_ms == board->last_seen_ms && achieved_mhz == board->achieved_mhz) return error;
  board->last_seen_ms = seen->seen_ms;
  board->achieved_mhz = achieved_mhz;
  db_bind_u64(table->again, 1, board->id);
  db_bind_u64(table->again, 2, board->last_seen_ms);
  db_bind_u64(table->again, 3, board->achieved_mhz);
  return error != 0 ? error : db_run(table->again);
}

int board_table_seen(struct board_table *table, const struct store_board_seen *seen,
                     struct board_row *ret) {
  static const struct known_cpus none = {0};
  struct known_board *board = known_boards_find(&table->known, seen->board), row;
  int error = 0;
  if (is_known(board, seen)) {
    error = see_again(table, board, seen);
    row = *board;
  } else {
    error = merge(table, seen, board != NULL ? &board->cpus : &none, &row);
  }
  if (error != 0) return error;
  *ret = (struct board_row){row.id, row.texts[KNOWN_ARCH], row.texts[KNOWN_KERNEL],
                            row.texts[KNOWN_LABELS]};
  return 0;
}
