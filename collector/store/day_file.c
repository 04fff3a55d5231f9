/* SPDX-License-Identifier: Apache-2.0 */
/* The file of one day, and the exactly-once half of compaction ("settling").

   Landing rows arrive in the order of their ids. The newest settled id is stored in the same
   transaction as the rows' data. So a crash leaves both or neither, and a row that is presented
   again is skipped. The id belongs to one landing file, identified by its epoch; ids of another
   landing file are counted separately, from 0.

   A batch becomes one block for each of its series. Several batch nodes may map to one node here:
   the daemon may send a path twice, and threads of one name are one series. They are merged if
   their samples have equal weights, so a node has one row in a block unless its rate changed.

   Blocks are never changed, and their ids ascend. The rollup (roll.c) notes the last id it has
   read, and detects new data by the newest id of each five minutes. The file has a random number of
   its own, so that the ids of a later file are not mistaken for those of a deleted one.

   The file has a ledger of its batches. If the landing file is lost, its ledger is rebuilt from
   these (landing_loss.h).

   If windows are kept for less than a day, expired ones are deleted during the day
   (day_file_prune), and later ones reuse their space, so the file does not grow. The newest block
   stays, because SQLite assigns the id after the largest present. */
#include "day_file.h"

#include "block.h"
#include "common/arena.h"
#include "common/buf.h"
#include "day_folder.h"
#include "db.h"
#include "ledger.h"
#include "node_table.h"
#include "proto/compress.h"
#include "proto/loss.h"
#include "row_sums.h"
#include "series_rows.h"
#include "series_table.h"
#include "sqlite/marks.h"
#include "tier.h"

#include <errno.h>
#include <stdlib.h>

#define LEDGER_TABLE                                       \
  "CREATE TABLE IF NOT EXISTS ledger(board TEXT NOT NULL," \
  " run INTEGER NOT NULL, seqs BLOB NOT NULL,"             \
  " stored INTEGER NOT NULL, PRIMARY KEY(board, run)) WITHOUT ROWID;"

static const char schema[] =
    "CREATE TABLE meta(epoch INTEGER PRIMARY KEY, settled_id INTEGER NOT NULL);" NODE_TABLE_SCHEMA
        SERIES_TABLE_SCHEMA
    "CREATE TABLE block(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, mid_ms INTEGER NOT NULL,"
    " start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, rows INTEGER NOT NULL,"
    " count INTEGER NOT NULL, weight INTEGER NOT NULL, raw_len INTEGER NOT NULL,"
    " bytes BLOB NOT NULL, marks INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX block_by_series ON block(series, mid_ms);"
    "CREATE TABLE loss(at_ms INTEGER NOT NULL, board TEXT NOT NULL, run INTEGER NOT NULL,"
    " reason INTEGER NOT NULL, records INTEGER NOT NULL);"
    "CREATE TABLE newest(bucket INTEGER PRIMARY KEY, id INTEGER NOT NULL);"
    "CREATE TABLE pruned(before_ms INTEGER NOT NULL); INSERT INTO pruned VALUES(0);"
    "CREATE TABLE self(source INTEGER NOT NULL); INSERT INTO self SELECT random();" LEDGER_TABLE;

/* Version 1 had no marks. */
static const char from_version_1[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE block ADD COLUMN marks INTEGER NOT NULL DEFAULT 0;"
    "PRAGMA user_version=2; COMMIT";

/* Version 2 had no rollup. */
static const char from_version_2[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE newest(bucket INTEGER PRIMARY KEY, id INTEGER NOT NULL);"
    "INSERT INTO newest SELECT mid_ms/300000, max(id) FROM block GROUP BY 1;"
    "CREATE TABLE self(source INTEGER NOT NULL); INSERT INTO self SELECT random();"
    "PRAGMA user_version=3; COMMIT";
_Static_assert(TIER_MINUTES_MS == 300000, "as from_version_2 has it");

/* Version 3 was never pruned, and its programs cannot read blocks of version 3. */
static const char from_version_3[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE pruned(before_ms INTEGER NOT NULL); INSERT INTO pruned VALUES(0);"
    "PRAGMA user_version=4; COMMIT";

/* Version 4 had no ledger of its batches. */
static const char from_version_4[] =
    "BEGIN IMMEDIATE;" LEDGER_TABLE "PRAGMA user_version=5; COMMIT";

enum statement { ADD_BLOCK, ADD_LOSS, SET_NEWEST, SET_SETTLED, GET_LEDGER, SET_LEDGER, STATEMENTS };

static const char *const day_sql[STATEMENTS] = {
    [ADD_BLOCK] = "INSERT INTO block(series,mid_ms,start_ms,end_ms,rows,count,weight,raw_len,marks,"
                  "bytes) VALUES(?,?,?,?,?,?,?,?,?,?)",
    [ADD_LOSS] = "INSERT INTO loss(at_ms,run,reason,records,board) VALUES(?,?,?,?,?)",
    [SET_NEWEST] = "INSERT OR REPLACE INTO newest(bucket,id) VALUES(?,?)",
    [SET_SETTLED] = "INSERT OR REPLACE INTO meta(epoch,settled_id) VALUES(?,?)",
    [GET_LEDGER] = "SELECT seqs,stored FROM ledger WHERE board=? AND run=?",
    [SET_LEDGER] = "INSERT OR REPLACE INTO ledger(board,run,seqs,stored) VALUES(?,?,?,?)",
};

struct day_file {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENTS];
  struct node_table nodes;
  struct series_table series;
  uint64_t epoch, settled_id;
  bool is_open; /* a transaction is open */
  struct newest {
    uint64_t bucket, id;
  } newest[TIER_MINUTES_A_DAY]; /* in the open transaction; id 0: none */
  struct buf columns, packed;
  struct packer packer;
  struct buf seqs;
  struct ledger ledger; /* of the run that day_file_note updates */
  struct marks_file at; /* identity of the open file */
};

static int read_settled(struct day_file *file) {
  sqlite3_stmt *read = NULL;
  int error = db_prepare(file->db, "SELECT settled_id FROM meta WHERE epoch=?", &read);
  if (error != 0) return error;
  db_bind_u64(read, 1, file->epoch);
  int row = db_step(read);
  if (row == 1) file->settled_id = db_u64(read, 0);
  sqlite3_finalize(read);
  return row < 0 ? row : 0;
}

static int upgrade(sqlite3 *db) {
  static const char *const steps[DAY_VERSION] = {NULL, from_version_1, from_version_2,
                                                 from_version_3, from_version_4};
  uint64_t version = 0;
  int error = db_number(db, "PRAGMA user_version", 0, &version);
  for (; error == 0 && version > 0 && version < DAY_VERSION; version++) {
    error = db_exec(db, steps[version]);
    if (error != 0) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  }
  return error;
}

int day_file_upgrade(const char *path) {
  sqlite3 *db = NULL;
  int error = db_open(path, false, &db);
  if (error == 0) error = upgrade(db);
  db_close(db);
  return error;
}

int day_file_prune(const char *path, uint64_t before_ms) {
  static const char *const sql[] = {
      "UPDATE pruned SET before_ms=max(before_ms,?)", "DELETE FROM newest WHERE bucket*300000<?",
      "DELETE FROM block WHERE id<(SELECT max(id) FROM block) AND id IN (SELECT block.id"
      " FROM series CROSS JOIN block ON block.series=series.id AND mid_ms<?)"};
  enum { STEPS = sizeof sql / sizeof *sql };
  sqlite3_stmt *steps[STEPS] = {NULL};
  sqlite3 *db = NULL;
  int error = db_open(path, false, &db);
  if (error == 0) error = upgrade(db);
  if (error == 0) error = db_prepare_all(db, sql, STEPS, steps);
  if (error == 0) error = db_exec(db, "BEGIN IMMEDIATE");
  for (size_t i = 0; i < STEPS && error == 0; i++) {
    db_bind_u64(steps[i], 1, before_ms);
    error = db_run(steps[i]);
  }
  db_finalize_all(steps, STEPS);
  if (error == 0) error = db_exec(db, "COMMIT");
  db_close(db); /* rolls back if it was not committed */
  return error;
}
_Static_assert(TIER_MINUTES_MS == 300000, "as day_file_prune has it");

int day_file_open(const char *path, const uint8_t key[SIPHASH_KEY_BYTES], uint64_t epoch,
                  struct day_file **ret) {
  struct day_file *file = calloc(1, sizeof *file);
  if (file == NULL) return -ENOMEM;
  file->epoch = epoch;
  int error = db_open(path, true, &file->db);
  if (error == 0) error = upgrade(file->db);
  if (error == 0) error = db_schema(file->db, schema, DAY_VERSION);
  if (error == 0) error = db_prepare_all(file->db, day_sql, STATEMENTS, file->statements);
  if (error == 0) error = node_table_open(file->db, key, DAY_NODES_MAX, &file->nodes);
  if (error == 0) error = series_table_open(file->db, key, &file->series);
  if (error == 0) error = read_settled(file);
  if (error == 0) error = marks_file_take(path, &file->at);
  if (error != 0) {
    day_file_close(file);
    return error;
  }
  *ret = file;
  return 0;
}

void day_file_close(struct day_file *file) {
  if (file == NULL) return;
  db_finalize_all(file->statements, STATEMENTS);
  node_table_close(&file->nodes);
  series_table_close(&file->series);
  db_close(file->db);
  buf_fini(&file->columns);
  buf_fini(&file->packed);
  buf_fini(&file->seqs);
  packer_fini(&file->packer);
  free(file);
}

bool day_file_has(const struct day_file *file, uint64_t id) {
  return id <= file->settled_id;
}

uint64_t day_file_settled_id(const struct day_file *file) {
  return file->settled_id;
}

bool day_file_is_at(struct day_file *file, const char *path) {
  return marks_file_holds(path, &file->at, file->db);
}

uint64_t day_file_collisions(const struct day_file *file) {
  return file->nodes.collisions;
}

uint64_t day_file_cut(const struct day_file *file) {
  return file->nodes.cut;
}

static int begin(struct day_file *file) {
  if (file->is_open) return 0;
  int error = db_exec(file->db, "BEGIN IMMEDIATE");
  file->is_open = error == 0;
  return error;
}

struct day_rows {
  uint64_t series; /* id in this file */
  uint32_t marks, count;
  const struct store_row *rows;
};

static void note_newest(struct day_file *file, uint64_t mid_ms) {
  uint64_t bucket = mid_ms / TIER_MINUTES_MS;
  file->newest[bucket % TIER_MINUTES_A_DAY] =
      (struct newest){bucket, (uint64_t)sqlite3_last_insert_rowid(file->db)};
}

static int add_block(struct day_file *file, const struct day_batch *batch,
                     const struct day_rows *block) {
  sqlite3_stmt *add = file->statements[ADD_BLOCK];
  uint64_t count = 0, weight = 0;
  for (uint32_t i = 0; i < block->count; i++) {
    count += block->rows[i].count;
    weight += block->rows[i].weight;
  }
  buf_clear(&file->columns);
  buf_clear(&file->packed);
  int error = block_encode(block->rows, block->count, &file->columns);
  if (error == 0) error = block_pack(&file->packer, buf_span(&file->columns), &file->packed);
  if (error != 0) return error;
  const uint64_t values[] = {block->series,   day_midpoint(batch->start_ms, batch->end_ms),
                             batch->start_ms, batch->end_ms,
                             block->count,    count,
                             weight,          file->columns.len,
                             block->marks};
  for (int i = 0; i < 9; i++) db_bind_u64(add, i + 1, values[i]);
  db_bind_span(add, 10, buf_span(&file->packed));
  error = db_run(add);
  if (error == 0) note_newest(file, values[1]);
  return error;
}

static int put_series(struct day_file *file, const struct day_batch *batch,
                      const struct series_rows *series, const struct node_ref *nodes) {
  struct day_rows block = {.marks = series->marks};
  struct store_row *rows = arena_array(batch->arena, series->count, sizeof *rows);
  struct store_row *spare = arena_array(batch->arena, series->count, sizeof *spare);
  if (rows == NULL || spare == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < series->count; i++) {
    rows[i] = series->rows[i];
    rows[i].node = nodes[rows[i].node].n;
  }
  block.rows = rows;
  block.count = (uint32_t)row_sums_merge(rows, spare, series->count);
  int error = series_table_map(&file->series, series->labels, series->type, &block.series);
  return error != 0 ? error : add_block(file, batch, &block);
}

int day_file_put_batch(struct day_file *file, const struct day_batch *batch) {
  if (batch->series_count == 0) return 0;
  struct node_ref *nodes = arena_array(batch->arena, batch->batch->node_count, sizeof *nodes);
  struct module_ref *modules =
      arena_array(batch->arena, batch->batch->module_count, sizeof *modules);
  if (nodes == NULL || modules == NULL) return -ENOMEM;
  int error = begin(file);
  if (error == 0) error = node_table_map(&file->nodes, batch->batch, modules, nodes);
  for (uint32_t i = 0; i < batch->series_count && error == 0; i++)
    error = put_series(file, batch, &batch->series[i], nodes);
  return error;
}

int day_file_put_loss(struct day_file *file, const struct day_loss *loss) {
  sqlite3_stmt *add = file->statements[ADD_LOSS];
  int error = begin(file);
  for (unsigned reason = 0; reason < LOSS_REASON_COUNT && error == 0; reason++) {
    if (loss->change[reason] == 0) continue;
    const uint64_t values[] = {loss->at_ms, loss->run, reason, (uint64_t)loss->change[reason]};
    for (int i = 0; i < 4; i++) db_bind_u64(add, i + 1, values[i]);
    db_bind_text(add, 5, loss->board);
    error = db_run(add);
  }
  return error;
}

int day_file_settled(struct day_file *file, uint64_t id) {
  int error = begin(file);
  if (error == 0) file->settled_id = id;
  return error;
}

static void bind_run(sqlite3_stmt *statement, const char *board, uint64_t run) {
  db_bind_text(statement, 1, board);
  db_bind_u64(statement, 2, run);
}

/* Reads the ledger of RUN; sets RET to its number of records. */
static int get_ledger(struct day_file *file, const char *board, uint64_t run, uint64_t *ret) {
  sqlite3_stmt *get = file->statements[GET_LEDGER];
  file->ledger = (struct ledger){0};
  *ret = 0;
  bind_run(get, board, run);
  int row = db_step(get);
  if (row != 1) return row;
  int error = ledger_decode(db_span(get, 0), &file->ledger) != 0 ? -EUCLEAN : 0;
  *ret = db_u64(get, 1);
  sqlite3_reset(get);
  return error;
}

int day_file_note(struct day_file *file, const char *board, uint64_t run, uint64_t seq,
                  uint64_t records) {
  sqlite3_stmt *set = file->statements[SET_LEDGER];
  uint64_t stored = 0;
  int error = begin(file);
  if (error == 0) error = get_ledger(file, board, run, &stored);
  if (error != 0) return error;
  ledger_add(&file->ledger, seq);
  buf_clear(&file->seqs);
  ledger_encode(&file->ledger, &file->seqs);
  if (file->seqs.failed) return -ENOMEM;
  bind_run(set, board, run);
  db_bind_span(set, 3, buf_span(&file->seqs));
  db_bind_u64(set, 4, stored + records);
  return db_run(set);
}

static int set_newest(struct day_file *file) {
  sqlite3_stmt *set = file->statements[SET_NEWEST];
  int error = 0;
  for (unsigned i = 0; i < TIER_MINUTES_A_DAY && error == 0; i++) {
    if (file->newest[i].id == 0) continue;
    db_bind_u64(set, 1, file->newest[i].bucket);
    db_bind_u64(set, 2, file->newest[i].id);
    error = db_run(set);
    file->newest[i].id = 0;
  }
  return error;
}

int day_file_commit(struct day_file *file) {
  sqlite3_stmt *set = file->statements[SET_SETTLED];
  if (!file->is_open) return 0;
  int error = set_newest(file);
  if (error != 0) return error;
  db_bind_u64(set, 1, file->epoch);
  db_bind_u64(set, 2, file->settled_id);
  error = db_run(set);
  if (error == 0) error = db_exec(file->db, "COMMIT");
  if (error == 0) file->is_open = false;
  return error;
}
