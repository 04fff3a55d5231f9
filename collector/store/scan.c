/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over all blocks of a query. It reads the files of each day that tier_plan.c selects,
   all side by side. Series are visited in the order of their labels, so those of a board are
   together, and those of a group. Within a series the order is by day, then by file from the
   coarsest, then by time:

     hours-30   [a][b]   [d]
     hours-31   [a]   [c][d]        shown: a a, b, c, d d d
     day-31              [d]

   Where the query leaves the length of blocks open, a series' blocks are summed over all files
   before they are shown: naming a row's function takes several times as long as adding it up.
   Each file numbers its own nodes, so they are merged into one forest (scan_forest.c). A file's
   forest is loaded when its first block is wanted: a query for one service does not read the
   days on which it did not run.

   A board with endless new nodes would slow every answer about the fleet. So at most board_nodes
   nodes of each board or group are shown: of each series the heaviest or, where blocks are not
   summed, the first. The weight of the others goes into rows of a node of the pseudo module
   STORE_REST. No sum changes, nor does another board.

   At most FILES_MAX files with SCAN_NODES_MAX nodes are open at once; then their rows are shown,
   and the walk continues with the next files. A listing needs none of this: it ends early and
   takes file by file.

   The same series has other numbers in other files; the scan gives it one id and calls `matches`
   once.

   A damaged file is read up to the damage; rows read before it stay in the answer. */
#include "common/arena.h"
#include "common/array.h"
#include "common/cutoff.h"
#include "common/table.h"
#include "day_pool.h"
#include "day_reader.h"
#include "day_visit.h"
#include "label_text.h"
#include "row_sums.h"
#include "scan_forest.h"
#include "settle.h"
#include "store.h"
#include "store_read.h"
#include "store_state.h"

#include <errno.h>
#include <stdlib.h>

enum {
  SERIES_NODES_MIN = 16,      /* guaranteed to each series, however many nodes others of its
                                 board have: no thread is left without */
  SCAN_BYTES_MAX = 768 << 20, /* series texts of one scan, and of one file's forest */
  SCAN_NODES_MAX = 2 << 20,   /* of the files that are open together; the rows of this many nodes
                                 are summed: 48 MiB */
  SCAN_SERIES_MAX = 1 << 20,
  FILES_MAX = 64, /* open at once: some 200 KiB each */
};

struct known_series {
  const char *text;
  bool is_wanted;
};

/* A file being read. */
struct scan_file {
  struct day_reader *reader; /* NULL: finished */
  uint32_t day;
  enum day_kind kind;
  struct tier_piece *pieces;
  bool has_forest;
  struct day_series series; /* the reader's position */
  bool is_shown;            /* its blocks belong to the series being shown */
  int error;                /* of it */
};

struct scan {
  const struct store_scan *wish;
  struct day_visitor visitor;
  struct tier_plan plan; /* of the day that is being opened */
  struct arena arena;
  struct table by_text;
  struct row_sums sums; /* of the series being shown */
  uint64_t start_ms, end_ms, row_count;
  struct known_series *series;
  uint32_t series_count, series_room;
  struct store_series current; /* labels point into current_text */
  char *current_text;
  size_t current_room;
  struct day_pool *pool;
  struct scan_forest *forest;
  uint64_t board;       /* hash of the board, or number of the group, of the last series shown */
  uint32_t board_nodes; /* shown of it */
  uint32_t *shown_of;   /* if blocks are not summed: by node, the number of the board ... */
  uint32_t shown_room, board_number; /* ... that it was last shown for */
  struct store_row *bounded;         /* a block's rows within the limit of nodes */
  size_t bounded_room;
  struct scan_file files[FILES_MAX];
  unsigned file_count;
  uint64_t node_count; /* of these files together */
};

static uint32_t find_series(const struct scan *scan, uint64_t hash, const char *text) {
  uint32_t cursor;
  uint32_t at = table_find(&scan->by_text, hash, &cursor);
  while (at != TABLE_NONE && strcmp(scan->series[at].text, text) != 0)
    at = table_next(&scan->by_text, hash, &cursor);
  return at;
}

static int add_series(struct scan *scan, uint64_t hash, const char *text) {
  if (scan->series_count == SCAN_SERIES_MAX) return -EOVERFLOW;
  struct known_series *more =
      array_grow(scan->series, scan->series_count, &scan->series_room, 64, sizeof *more);
  if (more == NULL) return -ENOMEM;
  scan->series = more;
  char *copy = arena_string(&scan->arena, text, strlen(text));
  if (copy == NULL) return -ENOMEM;
  scan->series[scan->series_count].text = copy;
  return table_add(&scan->by_text, hash, scan->series_count++);
}

/* Makes AT the current series: its labels are cut out of a copy of its text. */
static int select_series(struct scan *scan, uint32_t at) {
  size_t len = strlen(scan->series[at].text) + 1;
  if (len > scan->current_room) {
    char *text = realloc(scan->current_text, len);
    if (text == NULL) return -ENOMEM;
    scan->current_text = text;
    scan->current_room = len;
  }
  memcpy(scan->current_text, scan->series[at].text, len);
  scan->current.id = at;
  int error = label_text_decode(scan->current_text, scan->current.labels, STORE_LABELS_MAX,
                                &scan->current.label_count);
  return error != 0 ? -EUCLEAN : 0;
}

/* Makes SERIES current. Returns whether it is wanted, or -errno. */
static int meet_series(struct scan *scan, const struct day_series *series) {
  uint64_t hash = table_hash(series->text, strlen(series->text), 0);
  uint32_t at = find_series(scan, hash, series->text);
  bool is_new = at == TABLE_NONE;
  if (is_new) {
    int error = add_series(scan, hash, series->text);
    if (error != 0) return error;
    at = scan->series_count - 1;
  } else if (!scan->series[at].is_wanted) {
    return 0;
  }
  int error = select_series(scan, at);
  if (error != 0) return error;
  scan->current.type = series->type;
  scan->current.group = series->group;
  int wanted = is_new ? scan->wish->matches(scan->wish->context, &scan->current) : 1;
  if (is_new) scan->series[at].is_wanted = wanted > 0;
  return wanted;
}

static int show(struct scan *scan, uint64_t start_ms, uint64_t end_ms, const struct store_row *rows,
                size_t count) {
  static const struct store_forest none;
  const struct store_forest *forest = scan->wish->sums_will_do ? &none : &scan->forest->whole;
  return scan->wish->on_block(scan->wish->context, &scan->current, forest, start_ms, end_ms, rows,
                              count);
}

static uint64_t board_of(const struct store_series *series) {
  const char *board = store_series_label(series, "board");
  if (series->group > 0 || board == NULL) return series->group;
  return table_hash(board, strlen(board), STORE_GROUPS);
}

static void turn_to_board(struct scan *scan) {
  uint64_t board = board_of(&scan->current);
  if (board == scan->board && scan->board_number > 0) return;
  scan->board = board;
  scan->board_nodes = 0;
  scan->board_number++;
}

/* Cuts the rows of the current series beyond its board's nodes. Returns how many ROWS are left. */
static size_t cut(struct scan *scan, struct store_row *rows, size_t count) {
  uint32_t most = scan->wish->board_nodes;
  if (most == 0) return count;
  turn_to_board(scan);
  uint32_t kept = scan->board_nodes < most ? most - scan->board_nodes : 0;
  if (kept < SERIES_NODES_MIN) kept = SERIES_NODES_MIN;
  if (count > kept) count = row_sums_cut(rows, count, kept, scan->forest->whole.rest - 1);
  scan->board_nodes += (uint32_t)count;
  return count;
}

static int make_bounds(struct scan *scan, size_t count) {
  uint32_t nodes = scan->forest->whole.node_count;
  if (nodes > scan->shown_room) {
    uint32_t *more = reallocarray(scan->shown_of, nodes, sizeof *more);
    if (more == NULL) return -ENOMEM;
    memset(more + scan->shown_room, 0, (nodes - scan->shown_room) * sizeof *more);
    scan->shown_of = more;
    scan->shown_room = nodes;
  }
  if (count <= scan->bounded_room) return 0;
  struct store_row *more = reallocarray(scan->bounded, count, sizeof *more);
  if (more == NULL) return -ENOMEM;
  scan->bounded = more;
  scan->bounded_room = count;
  return 0;
}

/* Like `cut`, for a block that is shown by itself. The heaviest nodes of its board are not yet
   known, so the first ones are kept. */
static int show_bounded(struct scan *scan, const struct day_block *block) {
  struct row_rest rest = {.node = scan->forest->whole.rest - 1};
  size_t count = 0;
  int error = make_bounds(scan, block->count);
  if (error != 0) return error;
  turn_to_board(scan);
  for (size_t i = 0; i < block->count; i++) {
    const struct store_row *row = &block->rows[i];
    bool was_shown = scan->shown_of[row->node] == scan->board_number;
    if (!was_shown && row->count > 0 && scan->board_nodes >= scan->wish->board_nodes) {
      count = row_rest_add(&rest, row, scan->bounded, count);
      continue;
    }
    scan->shown_of[row->node] = scan->board_number;
    scan->board_nodes += !was_shown;
    scan->bounded[count++] = *row;
  }
  count = row_rest_take(&rest, scan->bounded, count);
  return show(scan, block->start_ms, block->end_ms, scan->bounded, count);
}

static int show_sums(struct scan *scan) {
  struct store_row *rows = NULL;
  size_t count = 0;
  int error = row_sums_take(&scan->sums, &rows, &count);
  if (error == 0 && !scan->wish->sums_will_do) count = cut(scan, rows, count);
  return error != 0 || count == 0 ? error : show(scan, scan->start_ms, scan->end_ms, rows, count);
}

static int add_up(struct scan *scan, const struct day_block *block) {
  int stop = block->marks != scan->current.marks ? show_sums(scan) : 0;
  if (scan->sums.node_count == 0) scan->start_ms = scan->end_ms = block->start_ms;
  scan->current.marks = block->marks;
  if (block->start_ms < scan->start_ms) scan->start_ms = block->start_ms;
  if (block->end_ms > scan->end_ms) scan->end_ms = block->end_ms;
  return stop != 0 ? stop : row_sums_add_all(&scan->sums, block->rows, block->count);
}

static int show_block(struct scan *scan, const struct day_block *block) {
  const struct store_scan *wish = scan->wish;
  scan->row_count += block->count;
  if (wish->rows_max > 0 && scan->row_count > wish->rows_max) return -E2BIG;
  if (cutoff_is_past(wish->cutoff)) return -ETIMEDOUT;
  bool are_added_up = wish->grain_ms == 0 && scan->node_count <= SCAN_NODES_MAX;
  if (are_added_up && !wish->sums_will_do) return add_up(scan, block);
  scan->current.marks = block->marks;
  if (wish->board_nodes > 0 && !wish->sums_will_do) return show_bounded(scan, block);
  return show(scan, block->start_ms, block->end_ms, block->rows, block->count);
}

static int read_forest(struct scan *scan, struct scan_file *file) {
  struct store_forest own;
  struct arena arena;
  uint32_t *map = NULL;
  arena_init(&arena, SCAN_BYTES_MAX);
  int error = day_reader_forest(file->reader, &arena, &own);
  if (error == 0) error = scan_forest_add(scan->forest, &own, &map);
  arena_fini(&arena);
  if (error == 0) day_reader_take_map(file->reader, map, scan->forest->epoch);
  return error;
}

/* Adds FILE's nodes to the forest if they are not in it. Rows that wait to be shown keep their
   node numbers. */
static int load_forest(struct scan *scan, struct scan_file *file) {
  int error = 0;
  if (!day_reader_use_map(file->reader, scan->forest->epoch)) error = read_forest(scan, file);
  if (error == 0 && scan->wish->board_nodes > 0) error = scan_forest_add_rest(scan->forest);
  file->has_forest = error == 0;
  return error;
}

static int show_block_sums(struct scan *scan, struct scan_file *file) {
  struct day_block block;
  int stop = 0, row;
  while (stop == 0 && (row = day_reader_next_sum(file->reader, &file->series, &block)) != 0)
    stop = row < 0 ? row : show_block(scan, &block);
  return stop;
}

static int show_blocks(struct scan *scan, struct scan_file *file) {
  struct day_block block;
  int row = file->has_forest ? 1 : day_reader_has_block(file->reader, &file->series);
  int stop = row < 0 ? row : 0;
  if (row != 1) return stop;
  if (!file->has_forest) stop = load_forest(scan, file);
  while (stop == 0 && (row = day_reader_next_block(file->reader, &file->series, &block)) != 0)
    stop = row < 0 ? row : show_block(scan, &block);
  return stop;
}

/* As strcmp: series of boards before those of groups, then as files list them. */
static int compare(const struct day_series *a, const struct day_series *b) {
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  int order = strcmp(a->text, b->text);
  if (order != 0) return order;
  return a->type < b->type ? -1 : a->type > b->type;
}

/* The file at the first series, or NULL if all files are at their end. */
static struct scan_file *find_first(struct scan *scan) {
  struct scan_file *first = NULL;
  for (unsigned i = 0; i < scan->file_count; i++) {
    struct scan_file *file = &scan->files[i];
    if (file->reader == NULL) continue;
    if (first == NULL || compare(&file->series, &first->series) < 0) first = file;
  }
  return first;
}

/* Shows the series at which FIRST stands, and maybe others. Without on_block, asks `matches`
   about a series only if it has a block; with on_block, the blocks themselves show that. */
static int show_series(struct scan *scan, struct scan_file *first) {
  bool is_listing = scan->wish->on_block == NULL;
  int is_wanted = is_listing ? day_reader_has_block(first->reader, &first->series) : 1;
  if (is_wanted == 1) is_wanted = meet_series(scan, &first->series);
  first->is_shown = true;
  first->error = is_wanted < 0 ? is_wanted : 0;
  scan->current.marks = 0;
  for (unsigned i = 0; i < scan->file_count; i++) {
    struct scan_file *file = &scan->files[i];
    if (file->reader == NULL || compare(&file->series, &first->series) != 0) continue;
    file->is_shown = true;
    if (is_wanted != 1 || is_listing) continue;
    file->error = scan->wish->sums_will_do ? show_block_sums(scan, file) : show_blocks(scan, file);
    if (file->error != 0 && file->error != -EUCLEAN) return file->error;
  }
  return show_sums(scan);
}

/* Ends FILE; its reader is kept for the next query. */
static void end_file(struct scan *scan, struct scan_file *file) {
  const struct day_pool_key key = {file->day, file->kind};
  if (file->error == -EUCLEAN)
    day_reader_close(file->reader);
  else
    day_pool_give(scan->pool, &key, file->reader);
  file->reader = NULL;
  free(file->pieces);
  file->pieces = NULL;
}

/* Moves FILE to its next series or end. */
static int advance(struct scan *scan, struct scan_file *file) {
  int row = 1;
  file->is_shown = false;
  if (file->error == 0) {
    row = day_reader_next_series(file->reader, scan->wish->types, &file->series);
    file->error = row < 0 ? row : 0;
  }
  if (row == 1 && file->error == 0) return 0;
  int error = file->error == -EUCLEAN ? 0 : file->error;
  if (file->error == -EUCLEAN) day_damage_add(&scan->visitor.damage, file->day, file->kind);
  end_file(scan, file);
  return error;
}

/* Moves on the files that were shown, not earlier: a series' name lives in its file. */
static int advance_shown(struct scan *scan) {
  int error = 0;
  for (unsigned i = 0; i < scan->file_count && error == 0; i++)
    if (scan->files[i].is_shown) error = advance(scan, &scan->files[i]);
  return error;
}

/* Shows the files' data, and closes them. */
static int show_files(struct scan *scan) {
  struct scan_file *first;
  int stop = 0;
  if (scan->forest->whole.node_count + scan->node_count > SCAN_NODES_MAX) {
    scan_forest_clear(scan->forest);
    scan->board_number++; /* node numbers in `shown_of` now refer to other nodes */
  }
  for (unsigned i = 0; i < scan->file_count; i++) scan->files[i].is_shown = true;
  stop = advance_shown(scan);
  while (stop == 0 && (first = find_first(scan)) != NULL) {
    stop = cutoff_is_past(scan->wish->cutoff) ? -ETIMEDOUT : show_series(scan, first);
    if (stop == 0) stop = advance_shown(scan);
  }
  for (unsigned i = 0; i < scan->file_count; i++) end_file(scan, &scan->files[i]);
  scan->file_count = 0;
  scan->node_count = 0;
  return stop;
}

/* Takes the part of READER that the plan reads; the reader is closed with the others. */
static int add_file(struct scan *scan, uint32_t day, enum day_kind kind,
                    struct day_reader **reader) {
  size_t piece_count = scan->plan.count[kind];
  uint32_t node_count = day_reader_node_count(*reader);
  bool is_full = scan->file_count == FILES_MAX ||
                 (scan->file_count > 0 && scan->node_count + node_count > SCAN_NODES_MAX);
  int stop = is_full ? show_files(scan) : 0;
  if (stop != 0) return stop;
  struct tier_piece *pieces = calloc(piece_count, sizeof *pieces);
  if (pieces == NULL) return -ENOMEM;
  memcpy(pieces, scan->plan.pieces[kind], piece_count * sizeof *pieces);
  day_reader_set_pieces(*reader, pieces, piece_count);
  scan->files[scan->file_count++] =
      (struct scan_file){.reader = *reader, .day = day, .kind = kind, .pieces = pieces};
  scan->node_count += node_count;
  *reader = NULL;
  return scan->wish->on_block == NULL ? show_files(scan) : 0;
}

static int scan_day(void *context, uint32_t day, struct day_files *files) {
  struct scan *scan = context;
  const struct tier_wish wish = {.from_ms = scan->wish->from_ms,
                                 .to_ms = scan->wish->to_ms,
                                 .grain_ms = scan->wish->grain_ms,
                                 .merges_boards = scan->wish->merges_boards};
  int stop = 0;
  tier_plan_make(&files->state, &wish, &scan->plan);
  for (unsigned kind = DAY_KINDS; kind-- > 0 && stop == 0;)
    if (scan->plan.count[kind] > 0) stop = add_file(scan, day, kind, &files->readers[kind]);
  return stop;
}

static int end_scan(void *context, int error) {
  struct scan *scan = context;
  if (error == 0) return show_files(scan);
  for (unsigned i = 0; i < scan->file_count; i++) end_file(scan, &scan->files[i]);
  return 0;
}

int store_scan(struct store *store, const struct store_scan *wish) {
  const uint64_t range_ms[2] = {wish->from_ms, wish->to_ms};
  struct scan *scan = calloc(1, sizeof *scan);
  if (scan == NULL) return -ENOMEM;
  scan->wish = wish;
  scan->visitor = (struct day_visitor){.on_day = scan_day,
                                       .on_end = end_scan,
                                       .context = scan,
                                       .cutoff = wish->cutoff,
                                       .is_of_settled = wish->is_of_settled};
  scan->pool = settle_pool(store->settle);
  scan->forest = day_pool_take_forest(scan->pool);
  if (scan->forest == NULL) scan->forest = scan_forest_new();
  arena_init(&scan->arena, SCAN_BYTES_MAX);
  int error = scan->forest != NULL ? day_visit(store, range_ms, &scan->visitor) : -ENOMEM;
  if (error == -ENOMEM) /* it may be incomplete */
    scan_forest_free(scan->forest);
  else
    day_pool_give_forest(scan->pool, scan->forest);
  arena_fini(&scan->arena);
  row_sums_fini(&scan->sums);
  table_fini(&scan->by_text);
  free(scan->series);
  free(scan->current_text);
  free(scan->shown_of);
  free(scan->bounded);
  free(scan);
  return error;
}

const char *store_series_label(const struct store_series *series, const char *name) {
  for (uint32_t i = 0; i < series->label_count; i++)
    if (strcmp(series->labels[i].name, name) == 0) return series->labels[i].value;
  return NULL;
}
