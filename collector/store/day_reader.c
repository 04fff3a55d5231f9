/* SPDX-License-Identifier: Apache-2.0 */
/* One read transaction gives a stable view of the file while settling continues in it.

   The forest is the whole node table of the file. Nodes are numbered from 1 without gaps, parents
   first, so row n is entry n - 1 and no lookup is needed. Any deviation (gaps, a parent after its
   child, a row that points past the end) means a damaged file and returns -EUCLEAN; it never
   becomes an index out of bounds.

   Many files are read side by side, nearly every page once, so each has a small page cache.

   Files of windows and rollups hold the same kinds of data; their statements differ but take the
   same parameters. In a rollup, the series of boards come first, then those merged over boards. */
#include "day_reader.h"

#include "block.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/sums.h"
#include "day_file.h"
#include "db.h"
#include "proto/compress.h"
#include "tier_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum statement { NEXT_SERIES, NEXT_GROUPED, NEXT_BLOCK, HAS_BLOCK, LOSS, STATEMENTS };

#define WINDOWS_OF_SERIES " FROM block WHERE series=?1 AND mid_ms>=?2 AND mid_ms<?3 AND id>?4"
#define BLOCKS_OF_SERIES " FROM block WHERE series=?1 AND start_ms>=?2 AND start_ms<?3 AND tier=?4"

static const char *const windows_sql[STATEMENTS] = {
    [NEXT_SERIES] = "SELECT id,labels,type,0 FROM series WHERE type<32 AND ?>>type&1"
                    " ORDER BY labels,type",
    [NEXT_GROUPED] = "SELECT 0 WHERE ? AND 0",
    [NEXT_BLOCK] =
        "SELECT id,start_ms,end_ms,rows,raw_len,bytes,marks,count,weight" WINDOWS_OF_SERIES
        " ORDER BY mid_ms,id",
    [HAS_BLOCK] = "SELECT 1" WINDOWS_OF_SERIES " LIMIT 1",
    [LOSS] = "SELECT reason,records,board FROM loss WHERE at_ms>=?1 AND at_ms<?2 AND rowid>?4"
             " AND (?3 IS NULL OR board=?3)",
};

static const char *const tiers_sql[STATEMENTS] = {
    [NEXT_SERIES] = "SELECT id,labels,type,0 FROM series WHERE grp=0 AND type<32 AND ?>>type&1"
                    " ORDER BY labels,type",
    [NEXT_GROUPED] = "SELECT id,labels,type,grp FROM series WHERE grp>0 AND type<32 AND ?>>type&1"
                     " ORDER BY grp,labels,type",
    [NEXT_BLOCK] = "SELECT id,start_ms,0,rows,raw_len,bytes,marks,count,weight" BLOCKS_OF_SERIES
                   " ORDER BY start_ms,marks,part",
    [HAS_BLOCK] = "SELECT 1" BLOCKS_OF_SERIES " LIMIT 1",
    [LOSS] = "SELECT reason,records,board FROM loss WHERE hour_ms+1800000>=?1 AND"
             " hour_ms+1800000<?2 AND (?3 IS NULL OR board=?3) AND ?4",
};

/* Older versions of files of windows are read without an upgrade. Version 1 has no marks. */
static const char next_block_of_version_1[] =
    "SELECT id,start_ms,end_ms,rows,raw_len,bytes,0,count,weight" WINDOWS_OF_SERIES
    " ORDER BY mid_ms,id";

struct day_reader {
  sqlite3 *db;
  enum day_kind kind;
  uint64_t version;
  sqlite3_stmt *statements[STATEMENTS];
  const struct tier_piece *pieces;
  size_t piece_count;
  enum statement listing; /* NEXT_SERIES or NEXT_GROUPED: the list being stepped through */
  bool is_listing;
  uint64_t series; /* the series being stepped through; 0: none */
  size_t piece;    /* index of the current piece */
  uint32_t node_count;
  const uint32_t *used_map; /* NULL: nodes keep this file's numbers */
  uint32_t *map;            /* the map used last, of mapped_count nodes */
  uint32_t mapped_count;
  uint64_t epoch; /* of the map */
  bool has_map;
  dev_t device; /* identity of the file */
  ino_t inode;
  uint64_t lent;
  struct buf columns;
  struct packer packer;
  struct store_row *rows;
  size_t room;
  struct store_row sum; /* of the block in which only the sums were read */
};

/* Returns a count that must fit an index: the largest key of a table. */
static int count_rows(sqlite3 *db, const char *sql, uint32_t *ret) {
  uint64_t rows = 0;
  int error = db_number(db, sql, 0, &rows);
  if (error == 0 && rows >= UINT32_MAX) error = -EUCLEAN;
  if (error == 0) *ret = (uint32_t)rows;
  return error;
}

/* Begins a read transaction on the present state of the file. */
static int begin(struct day_reader *reader, uint64_t *ret_version) {
  int error = db_exec(reader->db, "BEGIN");
  if (error == 0) error = db_number(reader->db, "PRAGMA user_version", 0, ret_version);
  if (error == 0 && *ret_version == 0) return -ENOENT; /* being created, still empty */
  return error;
}

static int count_nodes(struct day_reader *reader) {
  return count_rows(reader->db, "SELECT ifnull(max(n),0) FROM node", &reader->node_count);
}

static int open_tables(struct day_reader *reader) {
  bool is_windows = reader->kind == DAY_WINDOWS;
  int error = db_exec(reader->db, "PRAGMA query_only=ON; PRAGMA cache_size=-256");
  if (error == 0) error = begin(reader, &reader->version);
  uint64_t newest = is_windows ? DAY_VERSION : TIER_FILE_VERSION;
  if (error == 0 && reader->version > newest) return -EPROTO;
  const char *sql[STATEMENTS];
  memcpy(sql, is_windows ? windows_sql : tiers_sql, sizeof sql);
  if (is_windows && reader->version == 1) sql[NEXT_BLOCK] = next_block_of_version_1;
  if (error == 0) error = db_prepare_all(reader->db, sql, STATEMENTS, reader->statements);
  return error != 0 ? error : count_nodes(reader);
}

int day_reader_open(const char *path, enum day_kind kind, struct day_reader **ret) {
  struct day_reader *reader = calloc(1, sizeof *reader);
  struct stat status;
  if (reader == NULL) return -ENOMEM;
  reader->kind = kind;
  int error = db_open(path, false, &reader->db);
  if (error == 0 && stat(path, &status) != 0) error = -errno;
  if (error == 0) error = open_tables(reader);
  if (error != 0) {
    day_reader_close(reader);
    return error;
  }
  reader->device = status.st_dev;
  reader->inode = status.st_ino;
  *ret = reader;
  return 0;
}

static void free_room(struct day_reader *reader) {
  buf_fini(&reader->columns);
  packer_fini(&reader->packer);
  free(reader->rows);
  reader->rows = NULL;
  reader->room = 0;
}

void day_reader_close(struct day_reader *reader) {
  if (reader == NULL) return;
  db_finalize_all(reader->statements, STATEMENTS);
  db_close(reader->db);
  free_room(reader);
  free(reader->map);
  free(reader);
}

int day_reader_rest(struct day_reader *reader, uint32_t mapped_max) {
  for (unsigned i = 0; i < STATEMENTS; i++) sqlite3_reset(reader->statements[i]);
  reader->pieces = NULL;
  reader->piece_count = 0;
  reader->series = 0;
  reader->is_listing = false;
  reader->used_map = NULL;
  if (reader->mapped_count > mapped_max) {
    free(reader->map);
    reader->map = NULL;
    reader->has_map = false;
  }
  free_room(reader);
  int error = db_exec(reader->db, "COMMIT");
  sqlite3_db_release_memory(reader->db);
  return error;
}

int day_reader_wake(struct day_reader *reader, const char *path) {
  struct stat status;
  uint64_t version = 0;
  if (stat(path, &status) != 0) return -errno;
  if (status.st_dev != reader->device || status.st_ino != reader->inode) return -ESTALE;
  int error = begin(reader, &version);
  if (error == 0 && version != reader->version) error = -ESTALE;
  return error != 0 ? error : count_nodes(reader);
}

void day_reader_set_lent(struct day_reader *reader, uint64_t number) {
  reader->lent = number;
}

uint64_t day_reader_lent(const struct day_reader *reader) {
  return reader->lent;
}

/* Files of older versions list no newest blocks, so any five minutes may have data. */
static void assume_windows(struct tier_windows *windows) {
  for (unsigned i = 0; i < TIER_MINUTES_A_DAY; i++) windows->newest_id[i] = UINT64_MAX;
}

int day_reader_windows(struct day_reader *reader, struct tier_windows *ret) {
  struct tier_windows windows = {.is_there = true};
  sqlite3_stmt *list = NULL;
  if (reader->version < 3) assume_windows(&windows);
  if (reader->version >= 3) {
    int error = db_number(reader->db, "SELECT source FROM self", 0, &windows.source);
    if (error == 0 && reader->version >= 4)
      error = db_number(reader->db, "SELECT before_ms FROM pruned", 0, &windows.whole_from_ms);
    if (error == 0) error = db_prepare(reader->db, "SELECT bucket,id FROM newest", &list);
    while (error == 0 && (error = db_step(list)) == 1) {
      windows.newest_id[db_u64(list, 0) % TIER_MINUTES_A_DAY] = db_u64(list, 1);
      error = 0;
    }
    sqlite3_finalize(list);
    if (error != 0) return error;
  }
  *ret = windows;
  return 0;
}

/* Reads which parts are deleted and which are merged. */
static int read_grouped(struct day_reader *reader, uint64_t day_ms, struct tier_rolled *rolled) {
  sqlite3_stmt *list = NULL;
  int row = db_prepare(reader->db, "SELECT tier,start_ms FROM grouped", &list);
  while (row == 0 && (row = db_step(list)) == 1) {
    uint64_t tier = db_u64(list, 0), hour = (db_u64(list, 1) - day_ms) / TIER_HOUR_MS;
    if (tier == TIER_DAY) rolled->is_grouped[TIER_HOURS_A_DAY] = true;
    if (tier == TIER_HOUR && hour < TIER_HOURS_A_DAY) rolled->is_grouped[hour] = true;
    row = 0;
  }
  sqlite3_finalize(list);
  uint64_t dropped = 0;
  if (row == 0) row = db_number(reader->db, "SELECT count(*) FROM dropped", 0, &dropped);
  rolled->is_day_alone = dropped > 0;
  return row;
}

int day_reader_rolled(struct day_reader *reader, uint32_t day, uint64_t source,
                      struct tier_rolled *ret) {
  enum tier tier = reader->kind == DAY_MINUTES ? TIER_MINUTES : TIER_HOUR;
  uint64_t length_ms = tier_length_ms(tier), first = day * (uint64_t)TIER_DAY_MS / length_ms;
  struct tier_rolled rolled = {.is_there = true};
  sqlite3_stmt *list = NULL;
  int row = db_prepare(reader->db, "SELECT bucket,source,id FROM rolled", &list);
  while (row == 0 && (row = db_step(list)) == 1) {
    uint64_t at = db_u64(list, 0) - first;
    row = 0;
    if (at >= TIER_DAY_MS / length_ms) continue;
    rolled.has[at] = true;
    if (db_u64(list, 1) != source || source == 0)
      rolled.has_others = true;
    else
      rolled.rolled_id[at] = db_u64(list, 2);
  }
  sqlite3_finalize(list);
  if (row == 0 && tier == TIER_HOUR)
    row = read_grouped(reader, day * (uint64_t)TIER_DAY_MS, &rolled);
  if (row == 0) *ret = rolled;
  return row;
}

uint32_t day_reader_node_count(const struct day_reader *reader) {
  return reader->node_count;
}

void day_reader_take_map(struct day_reader *reader, uint32_t *map, uint64_t epoch) {
  free(reader->map);
  reader->map = map;
  reader->used_map = map;
  reader->epoch = epoch;
  reader->mapped_count = reader->node_count;
  reader->has_map = true;
}

bool day_reader_use_map(struct day_reader *reader, uint64_t epoch) {
  bool is_usable =
      reader->has_map && reader->epoch == epoch && reader->mapped_count == reader->node_count;
  if (is_usable) reader->used_map = reader->map;
  return is_usable;
}

void day_reader_set_pieces(struct day_reader *reader, const struct tier_piece *pieces,
                           size_t count) {
  reader->pieces = pieces;
  reader->piece_count = count;
  reader->series = 0;
  reader->listing = NEXT_SERIES;
}

static bool has_pieces(const struct day_reader *reader, bool is_grouped) {
  for (size_t i = 0; i < reader->piece_count; i++)
    if (reader->pieces[i].is_grouped == is_grouped) return true;
  return false;
}

/* Older files have 64 groups. Two of them, adjacent in a list, form one of the present groups. */
static uint32_t group_of(uint64_t number) {
  return number > 0 ? (uint32_t)((number - 1) % STORE_GROUPS) + 1 : 0;
}

/* Steps through the current list. */
static int next_listed(struct day_reader *reader, uint32_t types, struct day_series *ret) {
  sqlite3_stmt *next = reader->statements[reader->listing];
  if (!has_pieces(reader, reader->listing == NEXT_GROUPED)) return 0;
  if (!reader->is_listing) db_bind_u64(next, 1, types);
  int row = db_step(next);
  reader->is_listing = row == 1;
  if (row != 1) return row;
  *ret = (struct day_series){.id = db_u64(next, 0),
                             .text = db_text(next, 1),
                             .type = (uint32_t)db_u64(next, 2),
                             .group = group_of(db_u64(next, 3))};
  return 1;
}

int day_reader_next_series(struct day_reader *reader, uint32_t types, struct day_series *ret) {
  int row = next_listed(reader, types, ret);
  if (row != 0 || reader->listing == NEXT_GROUPED) return row;
  reader->listing = NEXT_GROUPED;
  return next_listed(reader, types, ret);
}

/* SQLite's integers are signed. Real times are far below the limit. */
static uint64_t limited(uint64_t ms) {
  return ms > INT64_MAX ? INT64_MAX : ms;
}

static void bind_piece(const struct day_reader *reader, sqlite3_stmt *statement, uint64_t series,
                       const struct tier_piece *piece) {
  db_bind_u64(statement, 1, series);
  db_bind_u64(statement, 2, limited(piece->from_ms));
  db_bind_u64(statement, 3, limited(piece->to_ms));
  db_bind_u64(statement, 4, reader->kind == DAY_WINDOWS ? piece->after_id : piece->tier);
}

int day_reader_has_block(struct day_reader *reader, const struct day_series *series) {
  sqlite3_stmt *has = reader->statements[HAS_BLOCK];
  int row = 0;
  for (size_t i = 0; i < reader->piece_count && row == 0; i++) {
    if (reader->pieces[i].is_grouped != (series->group != 0)) continue;
    bind_piece(reader, has, series->id, &reader->pieces[i]);
    row = db_step(has);
    if (row == 1) sqlite3_reset(has);
  }
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

/* Unpacks one block's rows and converts their node numbers to indices. */
static int read_rows(struct day_reader *reader, struct span packed, uint64_t raw_len,
                     uint64_t count) {
  if (count > BLOCK_ROWS_MAX || raw_len > BLOCK_BYTES_MAX) return -EUCLEAN;
  int error = make_room(reader, count);
  if (error != 0) return error;
  buf_clear(&reader->columns);
  error = block_unpack(&reader->packer, packed, raw_len, &reader->columns);
  if (error != 0) return error == -ENOMEM ? error : -EUCLEAN;
  if (block_decode(buf_span(&reader->columns), reader->rows, count) != (long)count) return -EUCLEAN;
  for (size_t i = 0; i < count; i++) {
    uint32_t node = reader->rows[i].node;
    if (node == 0 || node > reader->node_count) return -EUCLEAN;
    reader->rows[i].node = reader->used_map != NULL ? reader->used_map[node - 1] : node - 1;
  }
  return 0;
}

/* Steps to the next block's row in the pieces from reader->piece on. */
static int next_row(struct day_reader *reader, const struct day_series *series) {
  sqlite3_stmt *next = reader->statements[NEXT_BLOCK];
  if (reader->series == series->id) {
    int row = db_step(next);
    if (row != 0) return row;
    reader->piece++;
  } else {
    sqlite3_reset(next);
    reader->series = series->id;
    reader->piece = 0;
  }
  for (; reader->piece < reader->piece_count; reader->piece++) {
    if (reader->pieces[reader->piece].is_grouped != (series->group != 0)) continue;
    bind_piece(reader, next, series->id, &reader->pieces[reader->piece]);
    int row = db_step(next);
    if (row != 0) return row;
  }
  return 0;
}

/* Steps to the next block; fills RET except its rows. */
static int next_head(struct day_reader *reader, const struct day_series *series,
                     struct day_block *ret) {
  sqlite3_stmt *next = reader->statements[NEXT_BLOCK];
  int row = next_row(reader, series);
  if (row != 1) reader->series = 0;
  if (row != 1) return row;
  enum tier tier = reader->pieces[reader->piece].tier;
  uint64_t start_ms = db_u64(next, 1);
  *ret = (struct day_block){.id = db_u64(next, 0),
                            .start_ms = start_ms,
                            .end_ms = tier == TIER_WINDOW ? db_u64(next, 2)
                                                          : start_ms + tier_length_ms(tier),
                            .marks = (uint32_t)db_u64(next, 6)};
  return 1;
}

int day_reader_next_block(struct day_reader *reader, const struct day_series *series,
                          struct day_block *ret) {
  sqlite3_stmt *next = reader->statements[NEXT_BLOCK];
  int row = next_head(reader, series, ret);
  if (row != 1) return row;
  uint64_t count = db_u64(next, 3);
  int error = read_rows(reader, db_span(next, 5), db_u64(next, 4), count);
  if (error != 0) return error;
  ret->rows = reader->rows;
  ret->count = (size_t)count;
  return 1;
}

int day_reader_next_sum(struct day_reader *reader, const struct day_series *series,
                        struct day_block *ret) {
  sqlite3_stmt *next = reader->statements[NEXT_BLOCK];
  int row = next_head(reader, series, ret);
  if (row != 1) return row;
  reader->sum = (struct store_row){.count = db_u64(next, 7), .weight = db_u64(next, 8)};
  ret->rows = &reader->sum;
  ret->count = 1;
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

static int compare_names(const void *wanted, const void *name) {
  return strcmp(wanted, *(const char *const *)name);
}

static bool is_among(const struct store_names *names, const char *name) {
  return names->count > 0 &&
         bsearch(name, names->names, names->count, sizeof *names->names, compare_names) != NULL;
}

int day_reader_loss(struct day_reader *reader, const struct day_losses *losses, int64_t *sum) {
  sqlite3_stmt *loss = reader->statements[LOSS];
  const struct store_names *boards = losses->boards;
  bool is_one = boards != NULL && boards->count == 1;
  int row;
  db_bind_u64(loss, 1, limited(losses->from_ms));
  db_bind_u64(loss, 2, limited(losses->to_ms));
  db_bind_text(loss, 3, is_one ? boards->names[0] : NULL);
  db_bind_u64(loss, 4, reader->kind == DAY_WINDOWS ? losses->after_id : 1);
  while ((row = db_step(loss)) == 1) {
    uint64_t reason = db_u64(loss, 0);
    bool is_wanted = boards == NULL || is_one || is_among(boards, db_text(loss, 2));
    if (is_wanted && reason < LOSS_REASON_COUNT)
      sum[reason] = sum_of_signed(sum[reason], (int64_t)db_u64(loss, 1));
  }
  return row;
}

int day_reader_rolled_loss(struct day_reader *reader, uint64_t source, uint64_t *ret) {
  sqlite3_stmt *find = NULL;
  int row = db_prepare(reader->db, "SELECT id FROM rolled_loss WHERE source=?", &find);
  if (row == 0) db_bind_u64(find, 1, source);
  if (row == 0) row = db_step(find);
  if (row >= 0) *ret = row == 1 ? db_u64(find, 0) : 0;
  sqlite3_finalize(find);
  return row < 0 ? row : 0;
}

int day_reader_losses_after(struct day_reader *reader, uint64_t after_id,
                            int (*on_loss)(void *context, const struct day_loss_row *row),
                            void *context) {
  sqlite3_stmt *list = NULL;
  int row = db_prepare(reader->db,
                       "SELECT rowid,at_ms,reason,records,board FROM loss WHERE rowid>?"
                       " ORDER BY rowid",
                       &list);
  if (row == 0) db_bind_u64(list, 1, after_id);
  while (row == 0 && (row = db_step(list)) == 1) {
    const struct day_loss_row loss = {.id = db_u64(list, 0),
                                      .at_ms = db_u64(list, 1),
                                      .reason = db_u64(list, 2),
                                      .records = db_u64(list, 3),
                                      .board = db_text(list, 4)};
    row = on_loss(context, &loss);
  }
  sqlite3_finalize(list);
  return row;
}
