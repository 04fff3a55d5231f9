/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over all blocks that a query wants: day by day, in a day series by series in the order
   of their labels (a board's stand together), in a series by time.

   The same series lives in several day files under different numbers there; the scan gives it one
   id and asks `matches` once.  A day's forest is loaded when its first block is wanted, so a query
   for one service does not read the days on which it did not run.

   A damaged day file is counted and set aside after the walk; what was read of it before the
   damage showed stays in the answer, and the other days are served. */
#include "store_state.h"

#include "common/arena.h"
#include "common/table.h"
#include "day_folder.h"
#include "day_reader.h"
#include "label_text.h"
#include "landing.h"
#include "settle.h"
#include "store.h"
#include "store_read.h"

#include <errno.h>
#include <stdlib.h>

enum {
  SCAN_BYTES_MAX = 768 << 20, /* forests and series texts of one scan */
  SCAN_SERIES_MAX = 1 << 20,
};

struct known_series {
  const char *text;
  bool is_wanted;
};

struct scan {
  const struct store_scan *wish;
  struct arena arena;
  struct table by_text;
  struct known_series *series;
  uint32_t series_count, series_room;
  struct store_series current; /* labels point into current_text */
  char *current_text;
  size_t current_room;
  struct store_forest forest;
  bool has_forest;
};

/* What is done to each day: 0, or a negative error, or (scans) what the call-back returned. */
typedef int on_day(void *context, struct day_reader *reader);

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

/* Makes the series with TEXT current.  Returns whether it is wanted, or -errno. */
static int meet_series(struct scan *scan, const char *text) {
  uint64_t hash = table_hash(text, strlen(text), 0);
  uint32_t at = find_series(scan, hash, text);
  bool is_new = at == TABLE_NONE;
  if (is_new) {
    int error = add_series(scan, hash, text);
    if (error != 0) return error;
    at = scan->series_count - 1;
  } else if (!scan->series[at].is_wanted) {
    return 0;
  }
  int error = select_series(scan, at);
  if (error != 0) return error;
  if (is_new) scan->series[at].is_wanted = scan->wish->matches(scan->wish->context, &scan->current);
  return scan->series[at].is_wanted;
}

static int show_blocks(struct scan *scan, struct day_reader *reader, uint64_t series) {
  const struct store_scan *wish = scan->wish;
  struct day_block block;
  int row;
  while ((row = day_reader_next_block(reader, series, &block)) == 1) {
    int stop = 0;
    if (!scan->has_forest) {
      uint64_t id = scan->forest.id + 1;
      stop = day_reader_forest(reader, &scan->arena, &scan->forest);
      scan->forest.id = id;
      scan->has_forest = stop == 0;
    }
    scan->current.marks = block.marks;
    if (stop == 0)
      stop = wish->on_block(wish->context, &scan->current, &scan->forest, block.start_ms,
                            block.end_ms, block.rows, block.count);
    if (stop != 0) return stop;
  }
  return row;
}

static int scan_day(void *context, struct day_reader *reader) {
  struct scan *scan = context;
  struct day_series series;
  int row;
  scan->has_forest = false;
  while ((row = day_reader_next_series(reader, scan->wish->types, &series)) == 1) {
    scan->current.type = series.type;
    int error = day_reader_has_block(reader, series.id);
    if (error == 1) error = meet_series(scan, series.text);
    if (error == 1 && scan->wish->on_block != NULL) error = show_blocks(scan, reader, series.id);
    if (error < 0 || (error != 0 && scan->wish->on_block != NULL)) return error;
  }
  return row;
}

/* Opens the file of one day and shows it to ON_DAY. */
static int visit(struct store *store, uint32_t day, struct day_range range, on_day *visitor,
                 void *context) {
  char path[DAY_PATH_BYTES];
  struct day_reader *reader = NULL;
  int error = day_folder_path(store->dir, day, path);
  if (error == 0) error = day_reader_open(path, range, &reader);
  if (error != 0) return error == -ENOENT ? 0 : error; /* deleted since it was listed */
  error = visitor(context, reader);
  day_reader_close(reader);
  return error;
}

struct damage {
  uint32_t days[8]; /* more than that are found by the next read */
  unsigned count;
};

static int visit_days(struct store *store, struct day_range range, on_day *visitor, void *context,
                      struct damage *damage) {
  uint32_t *days = NULL;
  size_t count = 0;
  int error = day_folder_list(store->dir, &days, &count);
  for (size_t i = 0; i < count && error == 0; i++) {
    if (days[i] < day_of(range.from_ms) || days[i] > day_of(range.to_ms - 1)) continue;
    error = visit(store, days[i], range, visitor, context);
    if (error != -EUCLEAN) continue;
    error = 0;
    if (damage->count < sizeof damage->days / sizeof damage->days[0])
      damage->days[damage->count++] = days[i];
  }
  free(days);
  return error;
}

/* Waits until all is settled, then shows every day that RANGE touches. */
static int read_days(struct store *store, struct day_range range, on_day *visitor, void *context) {
  struct landing_figures landed;
  struct damage damage = {.count = 0};
  if (range.to_ms <= range.from_ms) return 0;
  landing_figures(store->landing, &landed);
  int error = settle_wait(store->settle, landed.newest_id);
  if (error != 0) return error;
  settle_lock_files(store->settle);
  error = visit_days(store, range, visitor, context, &damage);
  settle_unlock_files(store->settle);
  for (unsigned i = 0; i < damage.count; i++) settle_set_aside_day(store->settle, damage.days[i]);
  return error;
}

int store_scan(struct store *store, const struct store_scan *wish) {
  struct scan scan = {.wish = wish};
  const struct day_range range = {wish->from_ms, wish->to_ms};
  arena_init(&scan.arena, SCAN_BYTES_MAX);
  int error = read_days(store, range, scan_day, &scan);
  arena_fini(&scan.arena);
  table_fini(&scan.by_text);
  free(scan.series);
  free(scan.current_text);
  return error;
}

struct loss_sum {
  const char *board;
  int64_t records[LOSS_REASON_COUNT];
};

static int sum_day(void *context, struct day_reader *reader) {
  struct loss_sum *sum = context;
  return day_reader_loss(reader, sum->board, sum->records);
}

int store_loss_in_range(struct store *store, const char *board, uint64_t from_ms, uint64_t to_ms,
                        uint64_t *loss) {
  struct loss_sum sum = {.board = board};
  const struct day_range range = {from_ms, to_ms};
  int error = read_days(store, range, sum_day, &sum);
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
