/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over all blocks that a query wants: day by day, of a day file by file from the coarsest
   (tier_plan.c says what is read from which), in a file series by series in the order of their
   labels (a board's stand together, and a group's), in a series by time.

   A day's files are opened from the coarsest to the finest, each at its own moment: what has been
   summed up meanwhile is still in the finer one, beyond the id that the coarser one notes, and what
   has come meanwhile is read there.

   The same series lives in several files under different numbers there; the scan gives it one id
   and asks `matches` once.  A file's forest is loaded when its first block is wanted, so a query
   for one service does not read the days on which it did not run.

   Where the wish leaves it open how long blocks are, a series' blocks of a file are added up before
   they are shown: to find a row's function takes several times what adding it up does.

   A damaged file is counted and set aside after the walk; what was read of it before the damage
   showed stays in the answer, and the other days are served. */
#include "store_state.h"

#include "common/arena.h"
#include "common/table.h"
#include "day_folder.h"
#include "day_reader.h"
#include "label_text.h"
#include "landing.h"
#include "row_sums.h"
#include "settle.h"
#include "store.h"
#include "store_read.h"

#include <errno.h>
#include <stdlib.h>

enum {
  SCAN_BYTES_MAX = 768 << 20, /* series texts of one scan, and of one file's forest */
  SCAN_SUMS_MAX = 2 << 20,    /* nodes of a forest whose rows are added up: 48 MiB */
  SCAN_SERIES_MAX = 1 << 20,
};

struct known_series {
  const char *text;
  bool is_wanted;
};

struct scan {
  const struct store_scan *wish;
  struct tier_plan plan;     /* of the day that is shown */
  struct arena arena, nodes; /* nodes: of the file that is shown */
  struct table by_text;
  struct row_sums sums; /* of the series that is shown */
  uint64_t start_ms, end_ms, row_count;
  struct known_series *series;
  uint32_t series_count, series_room;
  struct store_series current; /* labels point into current_text */
  char *current_text;
  size_t current_room;
  struct store_forest forest;
  bool has_forest;
};

/* A day's files, open; NULL: there is none. */
struct day_files {
  struct day_reader *readers[DAY_KINDS];
  struct tier_state state;
  enum day_kind failed; /* which an error is about */
};

/* What is done to each day: 0, or a negative error, or (scans) what the call-back returned. */
typedef int on_day(void *context, struct day_files *files);

static uint32_t find_series(const struct scan *scan, uint64_t hash, const char *text) {
  uint32_t cursor;
  uint32_t at = table_find(&scan->by_text, hash, &cursor);
  while (at != TABLE_NONE && strcmp(scan->series[at].text, text) != 0)
    at = table_next(&scan->by_text, hash, &cursor);
  return at;
}

static int add_series(struct scan *scan, uint64_t hash, const char *text) {
  if (scan->series_count == SCAN_SERIES_MAX) return -EOVERFLOW;
  if (scan->series_count == scan->series_room) {
    uint32_t room = scan->series_room > 0 ? scan->series_room * 2 : 64;
    struct known_series *more = reallocarray(scan->series, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    scan->series = more;
    scan->series_room = room;
  }
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

/* Makes SERIES current.  Returns whether it is wanted, or -errno. */
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

static int load_forest(struct scan *scan, struct day_reader *reader) {
  uint64_t id = scan->forest.id + 1;
  arena_fini(&scan->nodes);
  arena_init(&scan->nodes, SCAN_BYTES_MAX);
  int error = day_reader_forest(reader, &scan->nodes, &scan->forest);
  scan->forest.id = id;
  scan->has_forest = error == 0;
  return error;
}

static int show(struct scan *scan, uint64_t start_ms, uint64_t end_ms, const struct store_row *rows,
                size_t count) {
  return scan->wish->on_block(scan->wish->context, &scan->current, &scan->forest, start_ms, end_ms,
                              rows, count);
}

static int show_sums(struct scan *scan) {
  struct store_row *rows = NULL;
  size_t count = 0;
  int error = row_sums_take(&scan->sums, &rows, &count);
  return error != 0 || count == 0 ? error : show(scan, scan->start_ms, scan->end_ms, rows, count);
}

static int add_up(struct scan *scan, const struct day_block *block) {
  int stop = block->marks != scan->current.marks ? show_sums(scan) : 0;
  if (scan->sums.node_count == 0) scan->start_ms = scan->end_ms = block->start_ms;
  scan->current.marks = block->marks;
  if (block->start_ms < scan->start_ms) scan->start_ms = block->start_ms;
  if (block->end_ms > scan->end_ms) scan->end_ms = block->end_ms;
  for (size_t i = 0; i < block->count && stop == 0; i++)
    stop = row_sums_add(&scan->sums, &block->rows[i]);
  return stop;
}

static int show_block(struct scan *scan, const struct day_block *block) {
  const struct store_scan *wish = scan->wish;
  scan->row_count += block->count;
  if (wish->rows_max > 0 && scan->row_count > wish->rows_max) return -E2BIG;
  if (wish->is_over != NULL && wish->is_over(wish->context)) return -ETIMEDOUT;
  if (wish->grain_ms == 0 && scan->forest.node_count <= SCAN_SUMS_MAX) return add_up(scan, block);
  scan->current.marks = block->marks;
  return show(scan, block->start_ms, block->end_ms, block->rows, block->count);
}

static int show_blocks(struct scan *scan, struct day_reader *reader,
                       const struct day_series *series) {
  struct day_block block;
  int row, stop = 0;
  scan->current.marks = 0;
  while (stop == 0 && (row = day_reader_next_block(reader, series, &block)) != 0) {
    stop = row < 0 ? row : 0;
    if (stop == 0 && !scan->has_forest) stop = load_forest(scan, reader);
    if (stop == 0) stop = show_block(scan, &block);
  }
  return stop != 0 ? stop : show_sums(scan);
}

/* Without on_block a series is asked about only if it has a block; else its blocks show that. */
static int show_series(struct scan *scan, struct day_reader *reader,
                       const struct day_series *series) {
  bool is_listing = scan->wish->on_block == NULL;
  int is_wanted = is_listing ? day_reader_has_block(reader, series) : 1;
  if (is_wanted == 1) is_wanted = meet_series(scan, series);
  if (is_wanted <= 0 || is_listing) return is_wanted < 0 ? is_wanted : 0;
  return show_blocks(scan, reader, series);
}

static int scan_file(struct scan *scan, struct day_reader *reader) {
  struct day_series series;
  int row;
  scan->has_forest = false;
  while ((row = day_reader_next_series(reader, scan->wish->types, &series)) == 1) {
    int stop = show_series(scan, reader, &series);
    if (stop != 0) return stop;
  }
  return row;
}

static int scan_day(void *context, struct day_files *files) {
  struct scan *scan = context;
  const struct tier_wish wish = {.from_ms = scan->wish->from_ms,
                                 .to_ms = scan->wish->to_ms,
                                 .grain_ms = scan->wish->grain_ms,
                                 .merges_boards = scan->wish->merges_boards};
  int stop = 0;
  tier_plan_make(&files->state, &wish, &scan->plan);
  for (unsigned kind = DAY_KINDS; kind-- > 0 && stop == 0;) {
    if (scan->plan.count[kind] == 0) continue;
    files->failed = kind;
    day_reader_set_pieces(files->readers[kind], scan->plan.pieces[kind], scan->plan.count[kind]);
    stop = scan_file(scan, files->readers[kind]);
  }
  return stop;
}

/* Opens DAY's file of KIND, if there is one. */
static int open_file(struct store *store, uint32_t day, enum day_kind kind,
                     struct day_files *files) {
  char path[DAY_PATH_BYTES];
  files->failed = kind;
  int error = day_folder_path(store->dir, kind, day, path);
  if (error == 0) error = day_reader_open(path, kind, &files->readers[kind]);
  return error == -ENOENT ? 0 : error;
}

static int read_state(struct day_files *files, uint32_t day) {
  struct tier_rolled *const rolled[DAY_KINDS] = {
      [DAY_MINUTES] = &files->state.minutes, [DAY_HOURS] = &files->state.hours};
  int error = 0;
  files->state.day_ms = (uint64_t)day * DAY_MS;
  files->failed = DAY_WINDOWS;
  if (files->readers[DAY_WINDOWS] != NULL)
    error = day_reader_windows(files->readers[DAY_WINDOWS], &files->state.windows);
  for (unsigned kind = DAY_MINUTES; kind < DAY_KINDS && error == 0; kind++) {
    if (files->readers[kind] == NULL) continue;
    files->failed = kind;
    error = day_reader_rolled(files->readers[kind], day, files->state.windows.source, rolled[kind]);
  }
  return error;
}

struct damage {
  struct damaged {
    uint32_t day;
    enum day_kind kind;
  } files[8]; /* more than that are found by the next read */
  unsigned count;
};

/* Opens the files of one day and shows them to ON_DAY. */
static int visit(struct store *store, uint32_t day, on_day *visitor, void *context,
                 struct damage *damage) {
  struct day_files *files = calloc(1, sizeof *files);
  int error = files != NULL ? 0 : -ENOMEM;
  for (unsigned kind = DAY_KINDS; kind-- > 0 && error == 0;)
    error = open_file(store, day, kind, files);
  if (error == 0) error = read_state(files, day);
  if (error == 0) error = visitor(context, files);
  for (unsigned kind = 0; kind < DAY_KINDS && files != NULL; kind++)
    day_reader_close(files->readers[kind]);
  if (error == -EUCLEAN) {
    if (damage->count < sizeof damage->files / sizeof damage->files[0])
      damage->files[damage->count++] = (struct damaged){day, files->failed};
    error = 0;
  }
  free(files);
  return error;
}

static int visit_days(struct store *store, const uint64_t range_ms[2], on_day *visitor,
                      void *context, struct damage *damage) {
  uint32_t *days = NULL;
  size_t count = 0;
  int error = day_folder_list(store->dir, DAY_KINDS, &days, &count);
  for (size_t i = 0; i < count && error == 0; i++) {
    if (days[i] < day_of(range_ms[0]) || days[i] > day_of(range_ms[1] - 1)) continue;
    error = visit(store, days[i], visitor, context, damage);
  }
  free(days);
  return error;
}

/* Whether ERROR, of settling, is one of the disk: it may last, and what was settled before can be
   read all the same. */
static bool is_disk_fault(int error) {
  return error == -EIO || error == -ENOSPC || error == -EROFS || error == -EDQUOT ||
         error == -EBUSY || error == -EACCES;
}

/* Waits until all is settled, then shows every day that RANGE_MS (from, to) touches. */
static int read_days(struct store *store, const uint64_t range_ms[2], on_day *visitor,
                     void *context) {
  struct landing_figures landed;
  struct damage damage = {.count = 0};
  if (range_ms[1] <= range_ms[0]) return 0;
  landing_figures(store->landing, &landed);
  int error = settle_wait(store->settle, landed.newest_id);
  if (error != 0 && !is_disk_fault(error)) return error;
  if (error != 0) atomic_fetch_add_explicit(&store->stale_reads, 1, memory_order_relaxed);
  settle_lock_files(store->settle);
  error = visit_days(store, range_ms, visitor, context, &damage);
  settle_unlock_files(store->settle);
  for (unsigned i = 0; i < damage.count; i++)
    settle_set_aside_day(store->settle, damage.files[i].kind, damage.files[i].day);
  return error;
}

int store_scan(struct store *store, const struct store_scan *wish) {
  const uint64_t range_ms[2] = {wish->from_ms, wish->to_ms};
  struct scan *scan = calloc(1, sizeof *scan);
  if (scan == NULL) return -ENOMEM;
  scan->wish = wish;
  arena_init(&scan->arena, SCAN_BYTES_MAX);
  arena_init(&scan->nodes, SCAN_BYTES_MAX);
  int error = read_days(store, range_ms, scan_day, scan);
  arena_fini(&scan->arena);
  arena_fini(&scan->nodes);
  row_sums_fini(&scan->sums);
  table_fini(&scan->by_text);
  free(scan->series);
  free(scan->current_text);
  free(scan);
  return error;
}

struct loss_sum {
  const char *board;
  uint64_t from_ms, to_ms;
  int64_t records[LOSS_REASON_COUNT];
};

/* Windows have all losses at their time, unless earlier ones were deleted with their file. */
static int sum_day(void *context, struct day_files *files) {
  struct loss_sum *sum = context;
  struct day_losses losses = {.from_ms = sum->from_ms, .to_ms = sum->to_ms, .board = sum->board};
  struct day_reader *hours = files->readers[DAY_HOURS], *windows = files->readers[DAY_WINDOWS];
  bool is_whole = windows != NULL && !files->state.hours.has_others;
  int error = 0;
  files->failed = DAY_HOURS;
  if (hours != NULL && !is_whole) {
    error = day_reader_loss(hours, &losses, sum->records);
    if (error == 0)
      error = day_reader_rolled_loss(hours, files->state.windows.source, &losses.after_id);
  }
  if (error != 0 || windows == NULL) return error;
  files->failed = DAY_WINDOWS;
  return day_reader_loss(windows, &losses, sum->records);
}

int store_loss_in_range(struct store *store, const char *board, uint64_t from_ms, uint64_t to_ms,
                        uint64_t *loss) {
  struct loss_sum sum = {.board = board, .from_ms = from_ms, .to_ms = to_ms};
  const uint64_t range_ms[2] = {from_ms, to_ms};
  int error = read_days(store, range_ms, sum_day, &sum);
  if (error != 0) return error;
  /* A correction (a late batch closed what had been given up) may lie outside its loss's range. */
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (sum.records[i] > 0) loss[i] += (uint64_t)sum.records[i];
  return 0;
}

const char *store_series_label(const struct store_series *series, const char *name) {
  for (uint32_t i = 0; i < series->label_count; i++)
    if (strcmp(series->labels[i].name, name) == 0) return series->labels[i].value;
  return NULL;
}
