/* SPDX-License-Identifier: Apache-2.0 */
/* A block here is the sum of windows, in the same columns. When more data for its time arrives,
   possibly weeks later, it is read, extended and written back. The same transaction records its
   content:

     rolled   (shortest block, file of windows) -> the newest window's id included

   So a crash leaves both sum and record or neither, and nothing is added twice. Deleted files of
   windows add nothing any more. One record with source 0 replaces theirs: the block holds data that
   no file of windows has.

   Blocks with different marks stay separate, as rows of different weights do, so that an answer is
   the same from any tier. A day may have more nodes than a block has rows, so each PART_NODES nodes
   have blocks of their own. */
#include "tier_file.h"

#include "block.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/sums.h"
#include "day_file.h"
#include "db.h"
#include "node_table.h"
#include "proto/compress.h"
#include "row_sums.h"
#include "sqlite/marks.h"

#include <errno.h>
#include <stdlib.h>

static const char schema[] = NODE_TABLE_SCHEMA
    "CREATE TABLE series(id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, type INTEGER NOT NULL,"
    " labels TEXT NOT NULL, UNIQUE(grp, labels, type));"
    "CREATE TABLE block(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, tier INTEGER NOT NULL,"
    " start_ms INTEGER NOT NULL, marks INTEGER NOT NULL, part INTEGER NOT NULL,"
    " rows INTEGER NOT NULL, count INTEGER NOT NULL, weight INTEGER NOT NULL, raw_len INTEGER NOT "
    "NULL,"
    " bytes BLOB NOT NULL, UNIQUE(series, tier, start_ms, marks));"
    "CREATE TABLE rolled(bucket INTEGER NOT NULL, source INTEGER NOT NULL, id INTEGER NOT NULL,"
    " PRIMARY KEY(bucket, source)) WITHOUT ROWID;"
    "CREATE TABLE grouped(tier INTEGER NOT NULL, start_ms INTEGER NOT NULL,"
    " PRIMARY KEY(tier, start_ms)) WITHOUT ROWID;"
    "CREATE TABLE dropped(tier INTEGER PRIMARY KEY);"
    "CREATE TABLE loss(hour_ms INTEGER NOT NULL, board TEXT NOT NULL, reason INTEGER NOT NULL,"
    " records INTEGER NOT NULL, PRIMARY KEY(hour_ms, board, reason)) WITHOUT ROWID;"
    "CREATE TABLE rolled_loss(source INTEGER PRIMARY KEY, id INTEGER NOT NULL);";

enum {
  PART_NODES = 1 << 17,
  FREE_FRACTION = 8, /* a file with more than an eighth of its pages free is rewritten */
  /* If a block's sums would not fit a signed column, another block is added beside it, with its
     part higher by this. */
  PARTS_BESIDE = 1 << 15,
  PART_SHIFT = 32,
};
_Static_assert((int)PART_NODES <= (int)BLOCK_ROWS_MAX, "a block holds a part with one row a node");
_Static_assert(DAY_NODES_MAX / PART_NODES < PARTS_BESIDE, "others stand beside all parts");

enum statement {
  FIND_SERIES,
  ADD_SERIES,
  FIND_BLOCK,
  ADD_BLOCK,
  CHANGE_BLOCK,
  SET_ROLLED,
  SET_GROUPED,
  ADD_LOSS,
  SET_ROLLED_LOSS,
  STATEMENTS
};

static const char *const tier_sql[STATEMENTS] = {
    [FIND_SERIES] = "SELECT id FROM series WHERE grp=? AND labels=? AND type=?",
    [ADD_SERIES] = "INSERT INTO series(grp,labels,type) VALUES(?,?,?)",
    [FIND_BLOCK] =
        "SELECT id,rows,raw_len,bytes,count,weight FROM block WHERE series=? AND tier=? AND"
        " start_ms=? AND marks=? AND part=?",
    [ADD_BLOCK] = "INSERT INTO block(rows,count,weight,raw_len,bytes,series,tier,start_ms,marks,"
                  "part) VALUES(?,?,?,?,?,?,?,?,?,?)",
    [CHANGE_BLOCK] = "UPDATE block SET rows=?,count=?,weight=?,raw_len=?,bytes=? WHERE id=?",
    [SET_ROLLED] = "INSERT OR REPLACE INTO rolled(bucket,source,id) VALUES(?,?,?)",
    [SET_GROUPED] = "INSERT OR IGNORE INTO grouped(tier,start_ms) VALUES(?,?)",
    [ADD_LOSS] = "INSERT INTO loss(hour_ms,board,reason,records) VALUES(?,?,?,?)"
                 " ON CONFLICT DO UPDATE SET records=records+excluded.records",
    [SET_ROLLED_LOSS] = "INSERT OR REPLACE INTO rolled_loss(source,id) VALUES(?,?)",
};

struct tier_file {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENTS];
  struct node_table nodes;
  uint64_t source;
  struct row_sums sums;
  struct buf columns, packed;
  struct packer packer;
  struct store_row *rows;
  size_t room;
};

/* Blocks of version 1 are read unchanged. The new version keeps older programs from reading newer
   blocks. */
static int upgrade(sqlite3 *db) {
  uint64_t version = 0;
  int error = db_number(db, "PRAGMA user_version", 0, &version);
  return error == 0 && version == 1 ? db_exec(db, "PRAGMA user_version=2") : error;
}
_Static_assert(TIER_FILE_VERSION == 2, "as upgrade has it");

/* Begins the file's one transaction. Replaces the records of deleted files of windows by one with
   source 0. */
static int begin(struct tier_file *file) {
  sqlite3_stmt *forget[3] = {NULL};
  static const char *const sql[3] = {
      "INSERT OR IGNORE INTO rolled SELECT bucket,0,0 FROM rolled WHERE source NOT IN (0,?)",
      "DELETE FROM rolled WHERE source NOT IN (0,?)",
      "DELETE FROM rolled_loss WHERE source<>?",
  };
  int error = db_exec(file->db, "BEGIN IMMEDIATE");
  if (error == 0) error = db_prepare_all(file->db, sql, 3, forget);
  for (unsigned i = 0; i < 3 && error == 0; i++) {
    db_bind_u64(forget[i], 1, file->source);
    error = db_run(forget[i]);
  }
  db_finalize_all(forget, 3);
  return error;
}

int tier_file_open(const char *path, const uint8_t key[SIPHASH_KEY_BYTES], uint64_t source,
                   struct tier_file **ret) {
  struct tier_file *file = calloc(1, sizeof *file);
  if (file == NULL) return -ENOMEM;
  file->source = source;
  int error = db_open(path, true, &file->db);
  if (error == 0) error = upgrade(file->db);
  if (error == 0) error = db_schema(file->db, schema, TIER_FILE_VERSION);
  if (error == 0) error = db_prepare_all(file->db, tier_sql, STATEMENTS, file->statements);
  if (error == 0) error = begin(file);
  if (error == 0) error = node_table_open(file->db, key, DAY_NODES_MAX, &file->nodes);
  if (error != 0) {
    tier_file_close(file);
    return error;
  }
  *ret = file;
  return 0;
}

void tier_file_close(struct tier_file *file) {
  if (file == NULL) return;
  db_finalize_all(file->statements, STATEMENTS);
  node_table_close(&file->nodes);
  db_close(file->db);
  row_sums_fini(&file->sums);
  buf_fini(&file->columns);
  packer_fini(&file->packer);
  buf_fini(&file->packed);
  free(file->rows);
  free(file);
}

int tier_file_map(struct tier_file *file, const struct store_forest *forest, struct arena *arena,
                  uint32_t **ret) {
  struct batch_module *modules = arena_array(arena, forest->module_count + 1, sizeof *modules);
  struct batch_node *nodes = arena_array(arena, forest->node_count + 1, sizeof *nodes);
  struct module_ref *module_refs =
      arena_array(arena, forest->module_count + 1, sizeof *module_refs);
  struct node_ref *refs = arena_array(arena, forest->node_count + 1, sizeof *refs);
  uint32_t *map = arena_array(arena, forest->node_count + 1, sizeof *map);
  if (!modules || !nodes || !module_refs || !refs || !map) return -ENOMEM;
  for (uint32_t i = 0; i < forest->module_count; i++) {
    const struct store_module *module = &forest->modules[i];
    modules[i] = (struct batch_module){module->id, module->path, 0, module->kind};
  }
  for (uint32_t i = 0; i < forest->node_count; i++) {
    const struct store_node *node = &forest->nodes[i];
    nodes[i] = (struct batch_node){node->parent, node->module, node->address};
  }
  const struct batch all = {.module_count = forest->module_count,
                            .node_count = forest->node_count,
                            .modules = modules,
                            .nodes = nodes};
  int error = node_table_map(&file->nodes, &all, module_refs, refs);
  for (uint32_t i = 0; i < forest->node_count; i++) map[i] = refs[i].n;
  if (error == 0) *ret = map;
  return error;
}

static int find_series(struct tier_file *file, const struct tier_slot *slot, uint64_t *ret) {
  sqlite3_stmt *both[2] = {file->statements[FIND_SERIES], file->statements[ADD_SERIES]};
  for (unsigned i = 0; i < 2; i++) {
    db_bind_u64(both[i], 1, slot->group);
    db_bind_text(both[i], 2, slot->labels);
    db_bind_u64(both[i], 3, slot->type);
  }
  int row = db_step(both[0]);
  if (row == 1) {
    *ret = db_u64(both[0], 0);
    sqlite3_reset(both[0]);
  }
  if (row != 0) return row < 0 ? row : 0;
  int error = db_run(both[1]);
  if (error == 0) *ret = (uint64_t)sqlite3_last_insert_rowid(file->db);
  return error;
}

/* Adds the rows of a stored block to the sums. */
static int add_stored(struct tier_file *file, struct span packed, uint64_t raw_len,
                      uint64_t count) {
  if (count > BLOCK_ROWS_MAX || raw_len > BLOCK_BYTES_MAX) return -EUCLEAN;
  if (count > file->room) {
    struct store_row *more = reallocarray(file->rows, count, sizeof *more);
    if (more == NULL) return -ENOMEM;
    file->rows = more;
    file->room = count;
  }
  buf_clear(&file->columns);
  int error = block_unpack(&file->packer, packed, raw_len, &file->columns);
  if (error != 0) return error == -ENOMEM ? error : -EUCLEAN;
  if (block_decode(buf_span(&file->columns), file->rows, count) != (long)count) return -EUCLEAN;
  for (size_t i = 0; i < count && error == 0; i++) {
    if (file->rows[i].node == 0 || file->rows[i].node > file->nodes.count) return -EUCLEAN;
    error = row_sums_add(&file->sums, &file->rows[i]);
  }
  return error;
}

/* Identifies a block. */
struct block_key {
  uint64_t series, part;
};

/* The table allows one row for each value of marks, whatever the part. So the part is also stored
   in the upper half of marks, which is never read. */
static void bind_key(sqlite3_stmt *statement, int from, const struct tier_slot *slot,
                     const struct block_key *key) {
  const uint64_t values[] = {key->series, slot->tier, slot->start_ms,
                             slot->marks | key->part << PART_SHIFT, key->part};
  for (int i = 0; i < 5; i++) db_bind_u64(statement, from + i, values[i]);
}

/* Finds SLOT's block KEY, or a block beside it with room for MORE, and adds its rows to the sums.
   RET is 0 if there is none. */
static int find_block(struct tier_file *file, const struct tier_slot *slot,
                      const struct store_row *more, struct block_key *key, uint64_t *ret) {
  sqlite3_stmt *find = file->statements[FIND_BLOCK];
  int row;
  *ret = 0;
  for (;;) {
    bind_key(find, 1, slot, key);
    row = db_step(find);
    if (row != 1) return row;
    if (sum_fits(db_u64(find, 4), more->count) && sum_fits(db_u64(find, 5), more->weight)) break;
    sqlite3_reset(find);
    key->part += PARTS_BESIDE;
  }
  *ret = db_u64(find, 0);
  int error = add_stored(file, db_span(find, 3), db_u64(find, 2), db_u64(find, 1));
  sqlite3_reset(find);
  return error;
}

/* Adds up all rows of one node, whatever their weights; those of a block come to SUM_MAX at most.
   Returns the number of rows left. */
static size_t collapse(struct store_row *rows, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && rows[kept - 1].node == rows[i].node) {
      rows[kept - 1].count += rows[i].count;
      rows[kept - 1].weight += rows[i].weight;
    } else {
      rows[kept++] = rows[i];
    }
  }
  return kept;
}

/* Encodes the rows in the sums and binds the block with its totals. */
static int bind_rows(struct tier_file *file, sqlite3_stmt *write) {
  struct store_row *rows = NULL;
  size_t count = 0;
  uint64_t records = 0, weight = 0;
  int error = row_sums_take(&file->sums, &rows, &count);
  if (error != 0) return error;
  if (count > BLOCK_ROWS_MAX) count = collapse(rows, count); /* very many rates: a hostile board */
  for (size_t i = 0; i < count; i++) {
    records += rows[i].count;
    weight += rows[i].weight;
  }
  buf_clear(&file->columns);
  buf_clear(&file->packed);
  error = block_encode(rows, count, &file->columns);
  if (error == 0) error = block_pack(&file->packer, buf_span(&file->columns), &file->packed);
  if (error != 0) return error;
  const uint64_t values[] = {count, records, weight, file->columns.len};
  for (int i = 0; i < 4; i++) db_bind_u64(write, i + 1, values[i]);
  db_bind_span(write, 5, buf_span(&file->packed));
  return 0;
}

/* Adds ROWS, which come to SUM_MAX at most, to one block. */
static int add_part(struct tier_file *file, const struct tier_slot *slot, uint64_t series,
                    const struct store_row *rows, size_t count) {
  struct block_key key = {series, rows->node / PART_NODES};
  struct store_row all = {.count = 0};
  uint64_t block = 0;
  for (size_t i = 0; i < count; i++) {
    all.count += rows[i].count;
    all.weight += rows[i].weight;
  }
  int error = find_block(file, slot, &all, &key, &block);
  for (size_t i = 0; i < count && error == 0; i++) error = row_sums_add(&file->sums, &rows[i]);
  sqlite3_stmt *write = file->statements[block != 0 ? CHANGE_BLOCK : ADD_BLOCK];
  if (error == 0) error = bind_rows(file, write);
  if (error != 0) return error;
  if (block != 0)
    db_bind_u64(write, 6, block);
  else
    bind_key(write, 6, slot, &key);
  return db_run(write);
}

/* Returns how many of ROWS, from the first on, belong to its part and come to SUM_MAX at most. */
static size_t part_of(const struct store_row *rows, size_t count) {
  struct store_row all = rows[0];
  size_t end = 1;
  for (; end < count && rows[end].node / PART_NODES == rows[0].node / PART_NODES; end++) {
    if (!sum_fits(all.count, rows[end].count) || !sum_fits(all.weight, rows[end].weight)) break;
    all.count += rows[end].count;
    all.weight += rows[end].weight;
  }
  return end;
}

int tier_file_add(struct tier_file *file, const struct tier_slot *slot,
                  const struct store_row *rows, size_t count) {
  uint64_t series = 0;
  if (count == 0) return 0;
  int error = find_series(file, slot, &series);
  for (size_t first = 0, more = 0; first < count && error == 0; first += more) {
    more = part_of(rows + first, count - first);
    error = add_part(file, slot, series, rows + first, more);
  }
  return error;
}

/* Runs STATEMENT with COUNT numbers. */
static int run(struct tier_file *file, enum statement statement, const uint64_t *values,
               int count) {
  for (int i = 0; i < count; i++) db_bind_u64(file->statements[statement], i + 1, values[i]);
  return db_run(file->statements[statement]);
}

int tier_file_set_rolled(struct tier_file *file, enum tier tier, uint64_t start_ms, uint64_t id) {
  return run(file, SET_ROLLED,
             (const uint64_t[]){start_ms / tier_length_ms(tier), file->source, id}, 3);
}

int tier_file_set_others(struct tier_file *file, enum tier tier, uint64_t start_ms) {
  return run(file, SET_ROLLED, (const uint64_t[]){start_ms / tier_length_ms(tier), 0, 0}, 3);
}

int tier_file_set_grouped(struct tier_file *file, enum tier tier, uint64_t start_ms) {
  return run(file, SET_GROUPED, (const uint64_t[]){tier, start_ms}, 2);
}

int tier_file_add_loss(struct tier_file *file, const char *board, uint64_t at_ms, uint64_t reason,
                       uint64_t records) {
  sqlite3_stmt *add = file->statements[ADD_LOSS];
  db_bind_u64(add, 1, at_ms / TIER_HOUR_MS * TIER_HOUR_MS);
  db_bind_text(add, 2, board);
  db_bind_u64(add, 3, reason);
  db_bind_u64(add, 4, records);
  return db_run(add);
}

int tier_file_set_rolled_loss(struct tier_file *file, uint64_t id) {
  return run(file, SET_ROLLED_LOSS, (const uint64_t[]){file->source, id}, 2);
}

int tier_file_mark(struct tier_file *file, uint64_t store, uint64_t *ret) {
  int error = db_exec(file->db, MARKS_SCHEMA); /* files of earlier versions have no marks */
  int row = error == 0 ? marks_read(file->db, MARKS_GENERATION, ret) : error;
  if (row < 0) return row;
  error = marks_write(file->db, MARKS_GENERATION, ++*ret);
  return error == 0 ? marks_write(file->db, MARKS_STORE, store) : error;
}

int tier_file_commit(struct tier_file *file) {
  return db_exec(file->db, "COMMIT");
}

/* Returns free pages to the file system, unless they are few and late batches may soon fill
   them. */
static int give_back(sqlite3 *db) {
  uint64_t pages = 0, free_pages = 0;
  int error = db_number(db, "PRAGMA page_count", 0, &pages);
  if (error == 0) error = db_number(db, "PRAGMA freelist_count", 0, &free_pages);
  return error == 0 && free_pages > pages / FREE_FRACTION ? db_exec(db, "VACUUM") : error;
}

/* Blocks of hours are most of the file. Their space is returned at once. If there is no room to
   rewrite the rest, or the process is killed, the next call does it. */
int tier_file_drop_hours(const char *path) {
  char sql[256];
  sqlite3 *db = NULL;
  uint64_t is_done = 0;
  int error = db_open(path, false, &db);
  if (error == 0) error = db_number(db, "SELECT count(*) FROM dropped", 0, &is_done);
  if (error == 0 && is_done == 0) {
    sqlite3_snprintf(sizeof sql, sql,
                     "BEGIN IMMEDIATE; DELETE FROM block WHERE tier=%d;"
                     "DELETE FROM grouped WHERE tier=%d; INSERT INTO dropped VALUES(%d); COMMIT",
                     TIER_HOUR, TIER_HOUR, TIER_HOUR);
    error = db_exec(db, sql);
  }
  if (error == 0) error = give_back(db);
  db_close(db);
  return error;
}
