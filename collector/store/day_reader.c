/* SPDX-License-Identifier: Apache-2.0 */
/* One read transaction holds still what is read, while settling goes on in the same file.

   The forest is the whole node table of the day: nodes are numbered from 1 without holes, parents
   first, so row n is entry n - 1 and nothing needs to be looked up.  Whatever does not fit that
   (holes, a parent after its child, a row that points past the end) means a damaged file, and is
   -EUCLEAN rather than an index out of bounds. */
#include "day_reader.h"

#include "block.h"
#include "common/arena.h"
#include "common/buf.h"
#include "day_file.h"
#include "db.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCKS_OF_SERIES " FROM block WHERE series=? AND mid_ms>=? AND mid_ms<? ORDER BY mid_ms,id"

enum statement { NEXT_SERIES, NEXT_BLOCK, HAS_BLOCK, LOSS, STATEMENTS };

static const char *const reader_sql[STATEMENTS] = {
    [NEXT_SERIES] = "SELECT id,labels,type FROM series WHERE type<32 AND ?>>type&1"
                    " ORDER BY labels,type",
    [NEXT_BLOCK] = "SELECT start_ms,end_ms,rows,raw_len,bytes,marks" BLOCKS_OF_SERIES,
    [HAS_BLOCK] = "SELECT 1 FROM block WHERE series=? AND mid_ms>=? AND mid_ms<? LIMIT 1",
    [LOSS] = "SELECT reason,records FROM loss WHERE at_ms>=?1 AND at_ms<?2"
             " AND (?3 IS NULL OR board=?3)",
};

/* Files of earlier versions are read as they are: version 1 has no marks. */
static const char next_block_of_version_1[] =
    "SELECT start_ms,end_ms,rows,raw_len,bytes,0" BLOCKS_OF_SERIES;

struct day_reader {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENTS];
  struct day_range range;
  bool is_listing;
  uint64_t series; /* whose blocks are being stepped through; 0: none */
  uint32_t node_count;
  struct buf columns;
  struct store_row *rows;
  size_t room;
};

/* A number that is also an index: of a table's largest key. */
static int count_rows(sqlite3 *db, const char *sql, uint32_t *ret) {
  uint64_t rows = 0;
  int error = db_number(db, sql, 0, &rows);
  if (error == 0 && rows >= UINT32_MAX) error = -EUCLEAN;
  if (error == 0) *ret = (uint32_t)rows;
  return error;
}

static int open_tables(struct day_reader *reader) {
  uint64_t version = 0;
  int error = db_exec(reader->db, "PRAGMA query_only=ON; BEGIN");
  if (error == 0) error = db_number(reader->db, "PRAGMA user_version", 0, &version);
  if (error == 0 && version == 0) return -ENOENT; /* being made right now: nothing in it yet */
  if (error == 0 && version > DAY_VERSION) return -EPROTO;
  const char *sql[STATEMENTS];
  memcpy(sql, reader_sql, sizeof sql);
  if (version == 1) sql[NEXT_BLOCK] = next_block_of_version_1;
  if (error == 0) error = db_prepare_all(reader->db, sql, STATEMENTS, reader->statements);
  if (error == 0)
    error = count_rows(reader->db, "SELECT ifnull(max(n),0) FROM node", &reader->node_count);
  return error;
}

int day_reader_open(const char *path, struct day_range range, struct day_reader **ret) {
  struct day_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return -ENOMEM;
  /* SQLite's integers are signed; no time of ours is anywhere near. */
  reader->range.from_ms = range.from_ms > INT64_MAX ? INT64_MAX : range.from_ms;
  reader->range.to_ms = range.to_ms > INT64_MAX ? INT64_MAX : range.to_ms;
  int error = db_open(path, false, &reader->db);
  if (error == 0) error = open_tables(reader);
  if (error != 0) {
    day_reader_close(reader);
    return error;
  }
  *ret = reader;
  return 0;
}

void day_reader_close(struct day_reader *reader) {
  if (reader == NULL) return;
  db_finalize_all(reader->statements, STATEMENTS);
  db_close(reader->db);
  buf_fini(&reader->columns);
  free(reader->rows);
  free(reader);
}

int day_reader_next_series(struct day_reader *reader, uint32_t types, struct day_series *ret) {
  sqlite3_stmt *next = reader->statements[NEXT_SERIES];
  if (!reader->is_listing) db_bind_u64(next, 1, types);
  int row = db_step(next);
  reader->is_listing = row == 1;
  if (row != 1) return row;
  *ret = (struct day_series){
      .id = db_u64(next, 0), .text = db_text(next, 1), .type = (uint32_t)db_u64(next, 2)};
  return 1;
}

static void bind_range(const struct day_reader *reader, sqlite3_stmt *statement, uint64_t series) {
  db_bind_u64(statement, 1, series);
  db_bind_u64(statement, 2, reader->range.from_ms);
  db_bind_u64(statement, 3, reader->range.to_ms);
}

int day_reader_has_block(struct day_reader *reader, uint64_t series) {
  sqlite3_stmt *has = reader->statements[HAS_BLOCK];
  bind_range(reader, has, series);
  int row = db_step(has);
  if (row == 1) sqlite3_reset(has);
  return row;
}

static int make_room(struct day_reader *reader, size_t count) {
  if (count <= reader->room) return 0;
  struct store_row *rows = reallocarray(reader->rows, count, sizeof *rows);
  if (rows == NULL) return -ENOMEM;
  reader->rows = rows;
  reader->room = count;
  return 0;
}

/* Unpacks one block's rows; their node numbers become indices. */
static int read_rows(struct day_reader *reader, struct span packed, uint64_t raw_len,
                     uint64_t count) {
  if (count > BLOCK_ROWS_MAX || raw_len > BLOCK_BYTES_MAX) return -EUCLEAN;
  int error = make_room(reader, count);
  if (error != 0) return error;
  buf_clear(&reader->columns);
  error = block_unpack(packed, raw_len, &reader->columns);
  if (error != 0) return error == -ENOMEM ? error : -EUCLEAN;
  if (block_decode(buf_span(&reader->columns), reader->rows, count) != (long)count) return -EUCLEAN;
  for (size_t i = 0; i < count; i++) {
    if (reader->rows[i].node == 0 || reader->rows[i].node > reader->node_count) return -EUCLEAN;
    reader->rows[i].node--;
  }
  return 0;
}

int day_reader_next_block(struct day_reader *reader, uint64_t series, struct day_block *ret) {
  sqlite3_stmt *next = reader->statements[NEXT_BLOCK];
  if (reader->series != series) {
    sqlite3_reset(next);
    bind_range(reader, next, series);
    reader->series = series;
  }
  int row = db_step(next);
  if (row != 1) reader->series = 0;
  if (row != 1) return row;
  uint64_t count = db_u64(next, 2);
  int error = read_rows(reader, db_span(next, 4), db_u64(next, 3), count);
  if (error != 0) return error;
  *ret = (struct day_block){.start_ms = db_u64(next, 0),
                            .end_ms = db_u64(next, 1),
                            .marks = (uint32_t)db_u64(next, 5),
                            .rows = reader->rows,
                            .count = (size_t)count};
  return 1;
}

static int load_modules(struct day_reader *reader, struct arena *arena,
                        struct store_module *modules, uint32_t count) {
  sqlite3_stmt *list = NULL;
  uint32_t at = 0;
  int row = db_prepare(reader->db, "SELECT m,kind,id,path FROM module ORDER BY m", &list);
  if (row != 0) return row;
  while ((row = db_step(list)) == 1 && at < count && db_u64(list, 0) == at + 1) {
    struct span id = db_span(list, 2);
    const char *path = db_text(list, 3);
    char *id_copy = arena_string(arena, id.data, id.len);
    char *path_copy = arena_string(arena, path, strlen(path));
    if (id_copy == NULL || path_copy == NULL) break;
    enum module_kind kind = db_u64(list, 1) == MODULE_ELF ? MODULE_ELF : MODULE_PSEUDO;
    modules[at++] = (struct store_module){span_of(id_copy, id.len), path_copy, kind};
  }
  sqlite3_finalize(list);
  if (row < 0) return row;
  if (row == 1 && at < count) return -ENOMEM;
  return at == count ? 0 : -EUCLEAN;
}

static int load_nodes(struct day_reader *reader, struct store_node *nodes, uint32_t module_count) {
  sqlite3_stmt *list = NULL;
  uint32_t at = 0;
  int row = db_prepare(reader->db, "SELECT n,parent,module,address FROM node ORDER BY n", &list);
  if (row != 0) return row;
  while ((row = db_step(list)) == 1 && at < reader->node_count) {
    uint64_t parent = db_u64(list, 1), module = db_u64(list, 2);
    bool is_sound =
        db_u64(list, 0) == at + 1 && parent <= at && module > 0 && module <= module_count;
    if (!is_sound) break;
    nodes[at++] = (struct store_node){parent == 0 ? BATCH_NONE : (uint32_t)parent - 1,
                                      (uint32_t)module - 1, db_u64(list, 3)};
  }
  sqlite3_finalize(list);
  if (row < 0) return row;
  return at == reader->node_count ? 0 : -EUCLEAN;
}

int day_reader_forest(struct day_reader *reader, struct arena *arena, struct store_forest *ret) {
  uint32_t module_count = 0;
  int error = count_rows(reader->db, "SELECT ifnull(max(m),0) FROM module", &module_count);
  if (error != 0) return error;
  struct store_module *modules = arena_array(arena, module_count + 1, sizeof *modules);
  struct store_node *nodes = arena_array(arena, reader->node_count + 1, sizeof *nodes);
  if (modules == NULL || nodes == NULL) return -ENOMEM;
  error = load_modules(reader, arena, modules, module_count);
  if (error == 0) error = load_nodes(reader, nodes, module_count);
  if (error != 0) return error;
  *ret = (struct store_forest){.node_count = reader->node_count,
                               .module_count = module_count,
                               .nodes = nodes,
                               .modules = modules};
  return 0;
}

int day_reader_loss(struct day_reader *reader, const char *board, int64_t *sum) {
  sqlite3_stmt *loss = reader->statements[LOSS];
  int row;
  db_bind_u64(loss, 1, reader->range.from_ms);
  db_bind_u64(loss, 2, reader->range.to_ms);
  db_bind_text(loss, 3, board);
  while ((row = db_step(loss)) == 1) {
    uint64_t reason = db_u64(loss, 0);
    if (reason < LOSS_REASON_COUNT)
      sum[reason] = (int64_t)((uint64_t)sum[reason] + db_u64(loss, 1));
  }
  return row;
}
